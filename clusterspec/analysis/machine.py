"""The machine of a report: levels, racks and single failures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from math import prod

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_rack, rack_nodes
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.cost.formulas.topologies import bisection_bandwidth
from clusterspec.cost.nameplates import it_power, power_draw
from clusterspec.cost.switch_shares import SwitchShare, core_share, spine_share
from clusterspec.records import replace
from clusterspec.results.machine import Failure, Machine, MachineLevel, MoreNodes, Rack
from clusterspec.spec.model import PowerSpec
from clusterspec.units import percent, plural


def machine(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None, peak: float | None = None) -> Machine:
    """The machine of a cluster and its fabric; ``power`` is the section as written, ``peak`` is watts at nameplates."""
    out = cluster.scale_out
    rails = out.rails if out and out.topology in RAIL_TOPOLOGIES else 1
    levels = fabric_levels(cluster)
    rack = _rack_of_machine(cluster, fabric, power)
    return Machine(
        accelerators=cluster.accelerators,
        accelerators_per_node=cluster.accelerators_per_node,
        nodes=cluster.nodes,
        spare_nodes=cluster.spare_nodes,
        domain=cluster.scale_up.domain,
        domains=-(-cluster.accelerators // cluster.scale_up.domain),
        nics_per_node=out.nics_per_node if out else 0,
        rails=rails,
        planes=out.planes if out else 0,
        topology=out.topology if out else "none",
        nodes_per_leaf=(levels[0].nodes or 1) if levels else cluster.all_nodes,
        rows=tuple(_level_rows(cluster, fabric)),
        failures=tuple(_machine_failures(cluster, fabric, rails)),
        rack=rack,
        bisection=_bisection_bandwidth(cluster) if fabric and fabric.leaf_switches else None,
        free_leaf_ports=_free_leaf_ports(cluster, fabric) if fabric else None,
        more_nodes=None if cluster.cloud else _more_nodes(cluster, fabric, power, rack, peak),
    )


def _more_nodes(
    cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None, rack: Rack | None, peak: float | None
) -> MoreNodes:
    """The nodes that still fit; by power only where the power of every part is known."""
    node, budget = cluster.node_power, power.budget if power else None
    left = None
    if budget and node and peak is not None and not power_draw(cluster, fabric, power).missing:
        left = _nodes_within(budget.value, peak, cluster, fabric, power)
    return MoreNodes(
        switches=_nodes_on_switches(cluster, fabric) if fabric else None,
        racks=rack.racks * rack.nodes - cluster.all_nodes if rack else None,
        power=left,
    )


def _nodes_within(budget: float, peak: float, cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None) -> int:
    """The number of nodes that a power budget in watts allows in addition to the machine, including the additional
    switches and rack overhead. They are whole domains if a domain draws power in addition to its nodes.
    """
    shared = power_draw(cluster, fabric, power).domain_overhead is not None
    unit = nodes_of_rack(cluster.platform) if shared and cluster.platform else 1
    each = cluster.node_power.value if cluster.node_power is not None else budget

    def exceeds(units: int) -> bool:
        larger = replace(cluster, nodes=cluster.nodes + units * unit)
        counted = fabric_of_cluster(larger)
        drawn = it_power(larger, counted if isinstance(counted, Fabric) else fabric, power)
        return drawn is None or drawn[0] > budget

    most = max(0, int((budget - peak) / each)) // unit
    return unit * bisect_left(range(1, most + 1), True, key=exceeds)


def _nodes_on_switches(cluster: Cluster, fabric: Fabric) -> int | None:
    """The number of nodes that can still be connected without adding a tier of switches; None if unknown."""
    out, levels = cluster.scale_out, fabric_levels(cluster)
    if out is not None and out.levels:
        most = levels[-1].nodes if levels else None
        return max(0, most - cluster.all_nodes) if most is not None else None
    if out is None or fabric.capacity is None or not out.nics_per_node:
        return None
    return max(0, (fabric.capacity - fabric.endpoints) // out.nics_per_node)


WHOLE_TOPOLOGIES = frozenset({"fat-tree", "rail-optimized", "single-switch"})
"""Topologies whose levels carry the traffic of any two halves."""


def _bisection_bandwidth(cluster: Cluster) -> float | None:
    """The bandwidth between two halves of the accelerators, in B/s per direction."""
    out, share = cluster.scale_out, cluster.nic_bandwidth_per_accelerator
    if out is None or share is None or cluster.nodes < 2 or out.topology not in WHOLE_TOPOLOGIES:
        return None
    crossed = [level for level in fabric_levels(cluster) if (level.nodes or 1) < cluster.nodes]
    taper = prod(max(1.0, level.oversubscription) for level in crossed)
    return bisection_bandwidth(cluster.accelerators, share) / taper


def _free_leaf_ports(cluster: Cluster, fabric: Fabric) -> int | None:
    """The ports of the leaves that connect nothing; None if the split of a leaf is not known."""
    out = cluster.scale_out
    if out is None or not fabric.leaf_switches or not fabric.down_ports:
        return None
    below, above = fabric.links.get("node_leaf", 0), fabric.links.get("leaf_spine", 0)
    levels = fabric_levels(cluster)
    each = (levels[0].switch_ports if levels else None) or fabric.switch_ports or fabric.down_ports
    left = fabric.leaf_switches * each - above  # where blocks are not a multiple of leaves, fewer than all down ports
    return max(0, min(fabric.leaf_switches * fabric.down_ports, left) - below)


def _level_rows(cluster: Cluster, fabric: Fabric | None) -> Iterator[MachineLevel]:
    of_domain = nodes_of_domain(cluster)
    links = fabric.links if fabric else {}
    if of_domain > 1:
        yield MachineLevel("nodes", cluster.all_nodes, links.get("node_leaf", 0), None, of_domain)
    else:
        yield MachineLevel("nodes", cluster.all_nodes, links.get("node_leaf", 0), None, 1)
    if fabric is None:
        return
    levels = fabric_levels(cluster)
    counts = (("leaf", fabric.leaf_switches, "leaf_spine"), ("spine", fabric.spine_switches, "spine_core"))
    below = links.get("node_leaf", 0)
    for number, (name, count, up) in enumerate((*counts, ("core", fabric.core_switches, ""))):
        level = levels[number] if number < len(levels) else None
        above = links.get(up, 0)
        ratio = level.oversubscription if level and above else None
        each = (level.switch_ports if level else None) or fabric.switch_ports
        ports = count * each if each else None
        if count:
            nodes = level.nodes if level else None
            used = below + above if ports is not None else None
            yield MachineLevel(f"{name} switches", count, above, ratio, nodes, ports, used)
        below = above


def _machine_failures(cluster: Cluster, fabric: Fabric | None, rails: int) -> Iterator[Failure]:
    out = cluster.scale_out
    if out is None or cluster.nodes < 2:
        return
    yield Failure("one NIC or its link", 1 / out.nics_per_node, "one node's bandwidth to the fabric")
    if fabric is None:
        return
    if fabric.tiers == 1 and (rails == 1 or fabric.leaf_switches == 1):
        yield Failure("one switch", 1 / fabric.leaf_switches, "the bandwidth of every node")
        return
    lost = 1 / min(rails, out.nics_per_node, _leaf_count_of_node(cluster, fabric)) / out.planes
    below = f"the bandwidth of the {_plural_nodes(cluster)} below it"
    split = _nodes_below(cluster) * fabric.leaf_switches // out.planes // _leaf_count_of_node(cluster, fabric)
    shared = ", and less for nodes with links to two leaves" if split < cluster.all_nodes else ""
    yield Failure("one leaf switch", lost, below + shared)
    if fabric.spine_switches > 1:
        pods = fabric.pods if fabric.core_switches else 1
        between = "the bandwidth between leaves" + (" of its pod" if pods > 1 else "")
        uneven = _uneven_text(spine_share(cluster, fabric), "leaves")
        yield Failure("one spine switch", pods / fabric.spine_switches, between + uneven)
    if fabric.core_switches > 1:
        uneven = _uneven_text(core_share(cluster, fabric), "pods")
        yield Failure("one core switch", 1 / fabric.core_switches, "the bandwidth between pods" + uneven)


def _uneven_text(share: SwitchShare, wholes: str) -> str:
    """The share that the leaves or pods with the most links to a failed switch lose, if other leaves or pods have fewer
    links to it.
    """
    if share.most == share.fewest:
        return ""
    return f"; the {wholes} {share.reached} lose {percent(share.most / share.links, 2)}"


def _leaf_count_of_node(cluster: Cluster, fabric: Fabric) -> int:
    """Leaf switches of one plane that one node connects to; several rails may share a leaf."""
    planes = cluster.scale_out.planes if cluster.scale_out else 1
    blocks = -(-cluster.all_nodes // _nodes_below(cluster))
    return max(1, fabric.leaf_switches // planes // blocks)


def _nodes_below(cluster: Cluster) -> int:
    levels = fabric_levels(cluster)
    return min((levels[0].nodes or 1) if levels else cluster.all_nodes, cluster.all_nodes)


def _plural_nodes(cluster: Cluster) -> str:
    return plural(_nodes_below(cluster), "node")


def _rack_of_machine(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None) -> Rack | None:
    drawn = power_draw(cluster, fabric, power)
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power else None)
    if not per_rack or drawn.racks is None:
        return None
    node = drawn.node.value if drawn.node else None
    domain = drawn.domain_overhead.value if drawn.domain_overhead else 0.0
    overhead = drawn.rack_overhead.value + (
        domain * (per_rack // nodes_of_rack(cluster.platform)) if cluster.platform else 0.0
    )
    limit = power.rack_limit.value if power and power.rack_limit else None
    ends = (node, drawn.node_range[0] if drawn.node_range else node)
    watts, least = (each * min(per_rack, cluster.all_nodes) + overhead if each is not None else None for each in ends)
    return Rack(per_rack, drawn.racks, watts, limit, node, overhead, least)
