"""Summary of a machine: counts, switch levels, impact of single failures, and rack power."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_rack
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.procurement.parts import power_draw
from clusterspec.records import asdict, dataclass
from clusterspec.spec.model import PowerSpec
from clusterspec.units import plural


@dataclass(frozen=True, slots=True)
class MachineLevel:
    """A level of the machine from the nodes upward: ``links`` are its uplinks, ``ratio`` its oversubscription."""

    name: str
    count: int
    links: int
    ratio: float | None
    nodes: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    """The impact of one failed part: the fraction of bandwidth lost, and what loses it."""

    part: str
    lost: float
    who: str


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack: ``watts`` is the full-load power of its nodes and overhead; ``limit`` the maximum of the rack."""

    nodes: int
    racks: int
    watts: float | None
    limit: float | None
    node_watts: float | None
    overhead: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The numbers of a machine: racks, rails and levels as described by the spec."""

    accelerators: int
    accelerators_per_node: int
    nodes: int
    spare_nodes: int
    domain: int
    domains: int
    nics_per_node: int
    rails: int
    planes: int
    topology: str
    nodes_per_leaf: int
    rows: tuple[MachineLevel, ...]
    failures: tuple[Failure, ...]
    rack: Rack | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def machine(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None) -> Machine:
    """The machine of a cluster and its fabric; ``power`` is the section as written."""
    out = cluster.scale_out
    rails = out.rails if out and out.topology in RAIL_TOPOLOGIES else 1
    levels = fabric_levels(cluster)
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
        nodes_per_leaf=(levels[0].nodes or 1) if levels else cluster.nodes,
        rows=tuple(_rows(cluster, fabric)),
        failures=tuple(_failures(cluster, fabric, rails)),
        rack=_rack(cluster, fabric, power),
    )


def _rows(cluster: Cluster, fabric: Fabric | None) -> Iterator[MachineLevel]:
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
    for number, (name, count, up) in enumerate((*counts, ("core", fabric.core_switches, ""))):
        level = levels[number] if number < len(levels) else None
        ratio = level.oversubscription if level and links.get(up) else None
        if count:
            yield MachineLevel(f"{name} switches", count, links.get(up, 0), ratio, level.nodes if level else None)


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
        yield Failure("one spine switch", 1 / fabric.spine_switches, "the bandwidth between leaves")
    if fabric.core_switches > 1:
        yield Failure("one core switch", 1 / fabric.core_switches, "the bandwidth between pods")


def _leaves_of_node(cluster: Cluster, fabric: Fabric) -> int:
    """Leaf switches of one plane above one node; rails may share them."""
    planes = cluster.scale_out.planes if cluster.scale_out else 1
    blocks = -(-cluster.all_nodes // _nodes_below(cluster))
    return max(1, fabric.leaf_switches // planes // blocks)


def _nodes_below(cluster: Cluster) -> int:
    levels = fabric_levels(cluster)
    return min((levels[0].nodes or 1) if levels else cluster.nodes, cluster.all_nodes)


def _plural_nodes(cluster: Cluster) -> str:
    return plural(_nodes_below(cluster), "node")


def _rack(cluster: Cluster, fabric: Fabric | None, power: PowerSpec | None) -> Rack | None:
    drawn = power_draw(cluster, fabric, power)
    per_rack = power.nodes_per_rack if power else None
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
