"""The machine of a report: levels, racks and single failures, the bandwidth of its tiers, and its classes of paths."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_rack, rack_nodes
from clusterspec.cluster.fabric import TREES, Fabric
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.cost.collectives.model import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import CollectiveRow, collective_table
from clusterspec.cost.formulas.topologies import bisection_bandwidth, slot_rate
from clusterspec.cost.nameplates import power_draw
from clusterspec.records import replace
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.machine import Failure, Machine, MachineLevel, MoreNodes, PathClass, Pod, Rack, Tier
from clusterspec.spec.model import PowerSpec
from clusterspec.units import plural


def machine(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None, peak: float | None = None) -> Machine:
    """The machine of a cluster and its fabric; ``power`` is the section as written, ``peak`` is watts at nameplates."""
    out = cluster.scale_out
    rails = out.rails if out and out.topology in RAIL_TOPOLOGIES else 1
    levels = fabric_levels(cluster)
    rack = _rack(cluster, fabric, power)
    return Machine(
        accelerators=cluster.accelerators,
        accelerators_per_node=cluster.accelerators_per_node,
        nodes=cluster.nodes,
        spare_nodes=cluster.spare_nodes,
        domain=cluster.scale_up.domain,
        domains=-(-cluster.accelerators // max(1, cluster.scale_up.domain)),
        nics_per_node=out.nics_per_node if out else 0,
        rails=rails,
        planes=out.planes if out else 0,
        topology=out.topology if out else "none",
        nodes_per_leaf=(levels[0].nodes or 1) if levels else cluster.all_nodes,
        rows=tuple(_level_rows(cluster, fabric)),
        failures=tuple(_failures(cluster, fabric, rails)),
        rack=rack,
        bisection=_bisection(cluster) if fabric and fabric.leaf_switches else None,
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
        left = max(0, int((budget.value - peak) / node.value))
    return MoreNodes(
        switches=_nodes_on_switches(cluster, fabric) if fabric else None,
        racks=rack.racks * rack.nodes - cluster.all_nodes if rack else None,
        power=left,
    )


def _nodes_on_switches(cluster: Cluster, fabric: Fabric) -> int | None:
    """The nodes that more switches of the same tiers can still connect."""
    out, levels = cluster.scale_out, fabric_levels(cluster)
    if out is not None and out.levels:
        most = levels[-1].nodes if levels else None
        return max(0, most - cluster.all_nodes) if most is not None else None
    if out is None or fabric.capacity is None or not out.nics_per_node:
        return None
    return max(0, (fabric.capacity - fabric.endpoints) // out.nics_per_node)


WHOLE_TOPOLOGIES = frozenset({"fat-tree", "rail-optimized", "single-switch"})
"""Topologies whose levels carry the traffic of any two halves."""


def _bisection(cluster: Cluster) -> float | None:
    """The bandwidth between two halves of the accelerators, in B/s per direction."""
    out, share = cluster.scale_out, cluster.nic_share
    if out is None or share is None or cluster.nodes < 2 or out.topology not in WHOLE_TOPOLOGIES:
        return None
    crossed = [level for level in fabric_levels(cluster) if (level.nodes or 1) < cluster.nodes]
    taper = prod(max(1.0, level.oversubscription) for level in crossed)
    return bisection_bandwidth(cluster.accelerators, share) / taper


def _free_leaf_ports(cluster: Cluster, fabric: Fabric) -> int | None:
    """The ports of the leaves that connect nothing; None where the split of a leaf is not known."""
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


def _failures(cluster: Cluster, fabric: Fabric | None, rails: int) -> Iterator[Failure]:
    out = cluster.scale_out
    if out is None or cluster.nodes < 2:
        return
    yield Failure("one NIC or its link", 1 / out.nics_per_node, "one node's bandwidth to the fabric")
    if fabric is None:
        return
    if fabric.tiers == 1 and (rails == 1 or fabric.leaf_switches == 1):
        yield Failure("one switch", 1 / max(1, fabric.leaf_switches), "the bandwidth of every node")
        return
    lost = 1 / min(rails, out.nics_per_node, _leaves_of_node(cluster, fabric)) / out.planes
    yield Failure("one leaf switch", lost, f"the bandwidth of the {_plural_nodes(cluster)} below it")
    if fabric.spine_switches > 1:
        pods = fabric.pods if fabric.core_switches else 1
        between = "the bandwidth between leaves" + (" of its pod" if pods > 1 else "")
        yield Failure("one spine switch", pods / fabric.spine_switches, between)
    if fabric.core_switches > 1:
        yield Failure("one core switch", 1 / fabric.core_switches, "the bandwidth between pods")


def _leaves_of_node(cluster: Cluster, fabric: Fabric) -> int:
    """Leaf switches of one plane above one node; rails may share them."""
    planes = cluster.scale_out.planes if cluster.scale_out else 1
    blocks = -(-cluster.all_nodes // _nodes_below(cluster))
    return max(1, fabric.leaf_switches // planes // blocks)


def _nodes_below(cluster: Cluster) -> int:
    levels = fabric_levels(cluster)
    return min((levels[0].nodes or 1) if levels else cluster.all_nodes, cluster.all_nodes)


def _plural_nodes(cluster: Cluster) -> str:
    return plural(_nodes_below(cluster), "node")


def _rack(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None) -> Rack | None:
    drawn = power_draw(cluster, fabric, power)
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power else None)
    if not per_rack or drawn.racks is None:
        return None
    node = drawn.node.value if drawn.node and not drawn.node_range else None
    domain = drawn.domain_overhead.value if drawn.domain_overhead else 0.0
    overhead = drawn.rack_overhead.value + (
        domain * (per_rack // nodes_of_rack(cluster.platform)) if cluster.platform else 0.0
    )
    limit = power.rack_limit.value if power and power.rack_limit else None
    watts = node * min(per_rack, cluster.all_nodes) + overhead if node is not None else None
    return Rack(per_rack, drawn.racks, watts, limit, node, overhead)


def pod(cluster: Cluster, power: PowerSpec | None) -> Pod:
    """The topology of a cluster."""
    out = cluster.scale_out
    levels = fabric_levels(cluster)
    return Pod(
        nodes=cluster.nodes,
        accelerators_per_node=cluster.accelerators_per_node,
        nics_per_node=out.nics_per_node if out else 0,
        domain_nodes=nodes_of_domain(cluster),
        domain=cluster.scale_up.domain,
        rails=out.rails if out and out.topology in RAIL_TOPOLOGIES else 1,
        block=min(cluster.nodes, (levels[0].nodes or 1) if levels else cluster.nodes),
        racks=rack_nodes(cluster, power.nodes_per_rack if power else None) or 0,
        topology=out.topology if out else "none",
        shape=cluster.scale_up.shape if cluster.scale_up.topology == "torus" else (),
        classes=(*_local_path_classes(cluster), *_fabric_path_classes(cluster)),
    )


def _local_path_classes(cluster: Cluster) -> Iterator[PathClass]:
    """The classes of pairs in one scale-up domain, and in one node over the bus of its host."""
    up = cluster.scale_up
    if up.domain > 1:
        rows = message_rows(cluster, 2)
        direct = up.topology in ("full-mesh", "partial-mesh", "bridge", "torus", "ring")
        name = up.interconnect.name if up.interconnect else up.topology
        middle = (f"{name} link",) if direct else (f"{name} link", f"{name} switch", f"{name} link")
        yield PathClass(
            name="the same scale-up domain",
            nodes=nodes_of_domain(cluster),
            parts=("accelerator", *middle, "accelerator"),
            switches=0 if direct else 1,
            bandwidth=up.peer_bandwidth.value,
            bottleneck=f"{name}, between two accelerators",
            shared=up.peer_bandwidth.value if direct else up.bandwidth.value / up.oversubscription,
            predicted=rows[1].busbw if rows else None,
            latency=rows[0].seconds if rows else None,
        )
    slot = host_rate(cluster)
    if slot is not None and up.domain < cluster.accelerators_per_node:
        rows = message_rows(cluster, 2) if up.domain < 2 else ()
        name = f"PCIe {cluster.pcie_host} slot" if cluster.pcie_host else "slot"
        yield PathClass(
            name="the same node",
            nodes=1,
            parts=("accelerator", name, "host", name, "accelerator"),
            switches=0,
            bandwidth=slot,
            bottleneck=name,
            shared=slot,
            predicted=rows[1].busbw if rows else None,
            latency=rows[0].seconds if rows else None,
        )


def host_rate(cluster: Cluster) -> float | None:
    """Bytes per second and direction of the slot of an accelerator; None if its generation is not known."""
    if cluster.scale_up.topology == "pcie":
        return cluster.scale_up.bandwidth.value
    return slot_rate(cluster.pcie_host) if cluster.pcie_host else None


HOP = 0.3e-6
"""Seconds that each switch after the first adds to a message, assumed: resellers print 0.13 to 0.33 µs
from port to port of InfiniBand, Ethernet takes 0.5 to 1 µs. The latencies of the
cost model were measured below one leaf."""


def _unknown_network(cluster: Cluster, out: ScaleOut) -> str:
    """What stands for a network whose switches are not known: that of a cloud, or one that is no tree; else empty."""
    if cluster.cloud or out.technology.cloud:
        return "network of the cloud"
    return "" if out.topology in TREES or out.levels else f"{out.topology} network"


def _fabric_path_classes(cluster: Cluster) -> tuple[PathClass, ...]:
    """The classes of pairs by fabric level, from the leaf upward."""
    out, share = cluster.scale_out, cluster.nic_share
    if out is None or share is None or cluster.nodes < 2:
        return ()
    network = _unknown_network(cluster, out)
    levels = () if network else fabric_levels(cluster)
    apart = max(cluster.accelerators_per_node, cluster.scale_up.domain)
    found: list[PathClass] = []
    taper = 1.0
    for number in range(len(levels) + 1):
        below = (levels[number - 1].nodes or 1) if number else 1
        here = (levels[number].nodes or 1) if number < len(levels) else cluster.nodes
        taper *= levels[number - 1].oversubscription if number else 1.0
        if number and below >= cluster.nodes:
            break
        pair = max(2 * apart, 2 * below * cluster.accelerators_per_node)
        rows = message_rows(cluster, min(pair, cluster.accelerators)) if cluster.accelerators > apart else ()
        top = network or ("leaf switch", "spine switch", "core switch")[min(number, 2)]
        way = ("leaf switch", "spine switch", "core switch")[: min(number, 2)]
        alone = max(out.nic_bandwidth.value, share)
        nics = "one NIC" if alone == out.nic_bandwidth.value else "the NICs of one accelerator"
        found.append(
            PathClass(
                name=f"the same {levels[number].name}" if number < len(levels) else "the whole fabric",
                nodes=min(here, cluster.nodes),
                parts=("accelerator", "NIC", *way, top, *reversed(way), "NIC", "accelerator"),
                switches=0 if network else 2 * len(way) + 1,
                bandwidth=alone,
                bottleneck=nics if taper <= 1 else f"{nics}; {taper:g}:1 where all send",
                shared=share / taper,
                predicted=rows[1].busbw * share / alone if rows else None,
                latency=rows[0].seconds + 2 * len(way) * HOP if rows else None,
            )
        )
    return tuple(found)


LARGE = float(1 << 30)
"""Bytes of a message on the plateau of every tier."""
SMALL = 8.0
"""Bytes of a message that takes the latency alone."""


def tiers(cluster: Cluster, provenance: Provenance | None = None) -> tuple[Tier, ...]:
    """The tiers from memory outward."""
    found = list(_tiers(cluster, provenance or Provenance()))
    falls = [_rate_ratio(found, number) for number in range(len(found))]
    seen = {"scale-up": "scale-up", "network": "scale-out", "ring": "scale-up", "exchange": "scale-up"}
    shares = {seen.get(each.part, ""): each.share.value for each in cluster.measured}
    return tuple(
        replace(one, fall=fall, measured=shares[one.kind] * one.line_rate if one.kind in shares else None)
        for one, fall in zip(found, falls, strict=True)
    )


def _rate_ratio(found: list[Tier], number: int) -> float | None:
    """The ratio of the line rate of a tier to that of the next one outward; a domain spares groups the host."""
    has_domain = any(tier.kind == "scale-up" for tier in found)
    after = next((tier for tier in found[number + 1 :] if tier.kind != "host" or not has_domain), None)
    return found[number].line_rate / after.line_rate if after else None


def _tiers(cluster: Cluster, provenance: Provenance) -> Iterator[Tier]:
    memory, up = cluster.accelerator.memory_bandwidth, cluster.scale_up
    if memory is not None:
        origin = provenance.text(memory.origin)
        nothing = {"predicted": None, "measured": None, "latency": None, "crossover": None, "fall": None}
        yield Tier("device memory", "memory", 1, memory.value, None, 8 * memory.value, **nothing, origin=origin)
    if up.domain > 1:
        together = message_rows(cluster, min(up.domain, cluster.accelerators), "all-gather")
        name = up.interconnect.name if up.interconnect else "scale-up interconnect"
        origin, rows = provenance.text(up.bandwidth.origin), message_rows(cluster, 2)
        whole = _tier(f"scale-up ({name})", "scale-up", up.domain, up.bandwidth.value, rows=rows, origin=origin)
        yield replace(whole, predicted=together[1].busbw if together else None)
        if up.peer_bandwidth < up.bandwidth:
            origin = provenance.text(up.peer_bandwidth.origin)
            yield _tier(
                "scale-up, one peer", "peer", 2, up.peer_bandwidth.value, rows=message_rows(cluster, 2), origin=origin
            )
    slot = host_rate(cluster)
    if slot is not None and cluster.accelerators_per_node > 1:
        rows = message_rows(cluster, 2) if up.domain < 2 else ()
        origin = f"PCIe {cluster.pcie_host}, 16 lanes" if cluster.pcie_host else provenance.text(up.bandwidth.origin)
        yield _tier("host bus (PCIe)", "host", cluster.accelerators_per_node, slot, rows=rows, origin=origin)
    yield from _scale_out(cluster, provenance)


def _scale_out(cluster: Cluster, provenance: Provenance) -> Iterator[Tier]:
    out, share = cluster.scale_out, cluster.nic_share
    if out is None or not share or cluster.nodes < 2:
        return
    each = cluster.accelerators_per_node
    apart = max(each, cluster.scale_up.domain)
    levels = fabric_levels(cluster)
    reach = [*(level.nodes or 1 for level in levels), cluster.nodes]
    rows = message_rows(cluster, min(2 * apart, cluster.accelerators)) if cluster.accelerators > apart else ()
    alone = max(out.nic_bandwidth.value, share)
    shared = f"{plural(out.nics_per_node, 'NIC')} × line rate / {plural(each, 'accelerator')}"
    origin = f"{shared}; {provenance.text(out.nic_bandwidth.origin)}"
    yield _tier(
        f"scale-out ({out.technology.name})",
        "scale-out",
        _nodes_at_full_rate(cluster) * each,
        share,
        rows=rows,
        origin=origin,
        together=share / alone,
    )
    taper = 1.0
    for level, nodes in zip(levels, reach[1:], strict=True):
        taper *= level.oversubscription
        inside = level.nodes or 1
        if taper > 1 and cluster.nodes > inside:
            rows = message_rows(cluster, min(2 * inside, cluster.nodes) * each)
            why = f"share of one accelerator / {taper:g} where all accelerators send upward at once"
            name, rate = f"above the {level.name}", share / taper
            yield _tier(name, "level", nodes * each, rate, rows=rows, origin=why, together=share / alone)


def _nodes_at_full_rate(cluster: Cluster) -> int:
    """The nodes whose accelerators all have their share of the NICs: those below the first tapered level, else all."""
    taper = 1.0
    for level in fabric_levels(cluster):
        taper *= level.oversubscription
        if taper > 1:
            return min(level.nodes or 1, cluster.nodes)
    return cluster.nodes


def message_rows(cluster: Cluster, accelerators: int, collective: str = "send-recv") -> tuple[CollectiveRow, ...]:
    """The costs of a short and a long message in a group across the tier; empty if it is not connected."""
    ranks = accelerators * cluster.ranks_per_accelerator
    try:
        return collective_table(cluster, collective, ranks, (SMALL, LARGE)) if ranks > 1 else ()
    except CollectiveUnavailableError:
        return ()


def _tier(
    name: str,
    kind: str,
    reach: int,
    rate: float,
    *,
    rows: tuple[CollectiveRow, ...],
    origin: str,
    together: float = 1.0,
) -> Tier:
    """A tier from the times of a message between two accelerators.

    ``together`` is the share of its bandwidth that is left for each accelerator when all send.
    """
    latency = rows[0].seconds if rows else None
    alone = rows[1].busbw if rows else None
    crossover = latency * alone if latency and alone else None
    predicted = alone * together if alone else None
    return Tier(name, kind, reach, rate, 2 * rate, 8 * rate, predicted, None, latency, crossover, None, origin)
