"""Growth of a machine in phases: the parts that each phase installs, and the parts that the first phase reserves for
the last.

A machine grows without recabling if every phase is a part of the last one: leaves are added with their nodes, and the
switches above them are installed in the first phase, with free ports for later leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.cost.nameplates import power_draw
from clusterspec.procurement.total import power_term
from clusterspec.records import dataclass, replace
from clusterspec.spec.model import ClusterSpec, PhaseSpec


@dataclass(frozen=True)
class Phase:
    """A phase: the parts installed from ``date`` on, spares included, and the reserve for the last phase.

    ``reserved_ports`` are ports of spines and cores for later leaves and spines, ``free_leaf_ports`` ports of present
    leaves for nodes. ``racks``, ``power`` in watts and their reserves are None if a figure is missing.
    ``moved_cables`` counts cables of this phase that must move later if it is built for its own size only.
    """

    date: str
    nodes: int
    leaf_switches: int = 0
    spine_switches: int = 0
    core_switches: int = 0
    cables: int = 0
    free_leaf_ports: int = 0
    reserved_ports: int = 0
    moved_cables: int = 0
    racks: int | None = None
    reserved_racks: int | None = None
    power: float | None = None
    reserved_power: float | None = None


def growth(cluster: Cluster, written: ClusterSpec | None, phases: Sequence[PhaseSpec]) -> tuple[Phase, ...]:
    """The phases of a machine; ``cluster`` is the last phase. Phases without a date or a size are omitted."""
    whole = fabric_of_cluster(cluster, written.scale_out if written else None)
    fabric = whole if isinstance(whole, Fabric) else None
    known = [(phase.date, phase.nodes) for phase in phases if phase.date and phase.nodes]
    built = [_growth_phase(cluster, written, fabric, date, min(nodes, cluster.nodes)) for date, nodes in known]
    return tuple(_with_reserves(phase, built[-1]) for phase in built)


def _growth_phase(cluster: Cluster, written: ClusterSpec | None, fabric: Fabric | None, date: str, nodes: int) -> Phase:
    standing = nodes + cluster.spare_nodes
    if fabric is None:
        return _with_power(Phase(date, nodes), cluster, written, None, standing)
    leaves = min(fabric.leaf_switches, leaves_of_nodes(cluster, fabric, standing))
    pods = parts_needed(leaves * fabric.pods, fabric.leaf_switches)
    spines = fabric.spine_switches * pods // fabric.pods
    shares = {
        "node_leaf": _links_of_nodes(cluster, fabric, standing),
        "leaf_spine": parts_needed(fabric.links["leaf_spine"] * leaves, fabric.leaf_switches),
        "spine_core": parts_needed(fabric.links["spine_core"] * pods, fabric.pods),
    }
    later = fabric.links["leaf_spine"] * pods // fabric.pods - shares["leaf_spine"]
    phase = Phase(
        date,
        nodes,
        leaf_switches=leaves,
        spine_switches=spines,
        core_switches=fabric.core_switches,
        cables=parts_needed(shares["node_leaf"], fabric.links_per_cable["node_leaf"])
        + parts_needed(fabric.cables["leaf_spine"] * leaves, fabric.leaf_switches)
        + parts_needed(fabric.cables["spine_core"] * pods, fabric.pods),
        free_leaf_ports=max(0, leaves * fabric.down_ports - shares["node_leaf"]),
        reserved_ports=max(0, later) + fabric.links["spine_core"] - shares["spine_core"],
        moved_cables=_moved_cable_count(cluster, written, fabric, nodes, leaves),
    )
    return _with_power(phase, cluster, written, fabric, standing)


def leaves_of_nodes(cluster: Cluster, fabric: Fabric, nodes: int) -> int:
    """The number of leaves, over all planes and rails, to which the first ``nodes`` nodes of a fabric connect."""
    scale_out = cluster.scale_out
    assert scale_out is not None
    if fabric.tiers == 1:
        return fabric.leaf_switches
    first = scale_out.levels[0].nodes if scale_out.levels else None
    if first:
        blocks = parts_needed(cluster.all_nodes, first)
        return fabric.leaf_switches // max(1, blocks) * parts_needed(nodes, first)
    rails = scale_out.rails if scale_out.topology in RAIL_TOPOLOGIES else 1
    of_rail = parts_needed(scale_out.nics_per_node, rails)
    extra = scale_out.extra_endpoints
    ends = nodes * scale_out.nics_per_node + extra
    blocks = parts_needed(nodes * of_rail, fabric.down_ports)
    each = max(1, blocks, parts_needed(parts_needed(ends, fabric.down_ports), rails))
    return fabric.planes * rails * each


def _links_of_nodes(cluster: Cluster, fabric: Fabric, nodes: int) -> int:
    assert cluster.scale_out is not None
    return (nodes * cluster.scale_out.nics_per_node + cluster.scale_out.extra_endpoints) * fabric.planes


def _moved_cable_count(cluster: Cluster, written: ClusterSpec | None, fabric: Fabric, nodes: int, leaves: int) -> int:
    """Cables that have to be moved later if a phase is built for its own size only.

    With a single tier: the nodes on ports that become uplinks. With two or more: the uplinks that move to another spine
    when spines are added. Below cores, a spine keeps at most the links of the ports that do not lead up.
    """
    alone = fabric_of_cluster(replace(cluster, nodes=nodes), written.scale_out if written else None)
    if not isinstance(alone, Fabric) or nodes >= cluster.nodes:
        return 0
    if alone.tiers < fabric.tiers == 2 or alone.tiers == 1 < fabric.tiers:
        kept = min(leaves, alone.leaf_switches) * fabric.down_ports
        return max(0, alone.links["node_leaf"] - kept)
    if not fabric.spine_switches or not alone.spine_switches:
        return 0
    kept_share = min(1.0, alone.spine_switches * fabric.pods / (fabric.spine_switches * alone.pods))
    spread = round(alone.links["leaf_spine"] * (1 - kept_share))
    if alone.tiers == fabric.tiers:
        return spread
    of_spine = fabric.links["leaf_spine"] // fabric.spine_switches
    return max(spread, alone.links["leaf_spine"] - alone.spine_switches * of_spine)


def _with_power(
    phase: Phase, cluster: Cluster, written: ClusterSpec | None, fabric: Fabric | None, standing: int
) -> Phase:
    """The phase with its racks, and the power of its nodes, switches, racks and domains at full load."""
    power = written.power if written else None
    whole = power_draw(cluster, fabric, power)
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power else None)
    racks = parts_needed(standing, per_rack) if per_rack else None
    switches = phase.leaf_switches + phase.spine_switches + phase.core_switches
    domains = parts_needed(whole.domains * standing, cluster.all_nodes)
    drawn = power_term(replace(whole, nodes=standing, switches=switches, racks=racks, domains=domains))
    return replace(phase, racks=racks, power=drawn.value if drawn.parts else None)


def _with_reserves(phase: Phase, last: Phase) -> Phase:
    """The phase with the additional racks and power that the last phase needs."""
    return replace(
        phase,
        reserved_racks=last.racks - phase.racks if last.racks is not None and phase.racks is not None else None,
        reserved_power=last.power - phase.power if last.power is not None and phase.power is not None else None,
    )
