"""The parts of a fabric: counted, and as ordered; cable runs, the cages at both ends, and the packets of switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster, Design, Level, ScaleOut
from clusterspec.cluster.planes import fabric_levels
from clusterspec.records import dataclass
from clusterspec.rules.parts import engines_stay_on_nodes
from clusterspec.spec.model import ClusterSpec, LinkCounts, ScaleOutSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.cable_runs import Run


@dataclass(frozen=True)
class FabricCount:
    """The fabric that the endpoints need, counted once for all rules."""

    fabric: Fabric | None
    """None where the customer has no fabric, or it cannot be counted."""
    planned: bool
    """Whether the spec plans its fabric: it states switches, their ports, levels, or a number of leaves."""
    severity: str
    """Severity of a fabric that cannot be built; only a warning if the ports of a switch are assumed."""


def fabric_count(cluster: Cluster | None, written: ScaleOutSpec | None, assumed: Mapping[str, str]) -> FabricCount:
    """The counted fabric of a cluster."""
    found = fabric_of_cluster(cluster, written) if cluster else None
    planned = bool(written and (written.switch or written.switch_ports or written.leaf_switches or written.levels))
    severity = "warning" if "cluster.scale_out.switch" in assumed else "error"
    return FabricCount(found if isinstance(found, Fabric) else None, planned, severity)


TIERS_OF_SWITCHES = ("leaf", "spine", "core")
"""The tiers of switches from the nodes upward, as their keys name them."""


def ordered_switches(written: ScaleOutSpec) -> Iterator[tuple[str, str, int]]:
    """The ordered switches of each tier: the tier, the path of the key that states them, and their number.

    With `levels` and without the number of a tier, it is the `count` of the level.
    """
    levels = written.levels or ()
    for index, tier in enumerate(TIERS_OF_SWITCHES):
        stated = getattr(written, f"{tier}_switches")
        if stated is not None:
            yield tier, f"cluster.scale_out.{tier}_switches", stated
        elif len(levels) <= len(TIERS_OF_SWITCHES) and index < len(levels) and levels[index].count is not None:
            yield tier, f"cluster.scale_out.levels.{index}.count", levels[index].count or 0


FOUR_TIMES, MANY = 4.0, 8
"""Thresholds above which spares and growth do not explain a surplus: the ratio to the needed number, and the number of
parts beyond it.
"""


def is_far_surplus(stated: float, needed: float) -> bool:
    """Whether a number of parts exceeds the need by more than growth and spares explain; a few parts more in a small
    fabric do not count.
    """
    return stated >= FOUR_TIMES * needed and stated - needed > MANY


@dataclass(frozen=True)
class OrderedLinks:
    """The ordered links of one level: their key and their number. A cable counts as its number of links."""

    at: str
    links: int
    how: str


def ordered_links(written: ScaleOutSpec, level: str, usual: int = 1) -> OrderedLinks | None:
    """The stated links of a level, or its stated cables times the links per cable; None if neither is stated.

    ``usual`` is the number of links per cable if the spec states none.
    """
    return next(links_and_cables(written, level, usual), None)


def links_and_cables(written: ScaleOutSpec, level: str, usual: int = 1) -> Iterator[OrderedLinks]:
    """The stated links of a level, then the links of its stated cables, since the two may disagree; ``usual`` as in
    `ordered_links`.
    """
    links = getattr(written.links or LinkCounts(), level)
    if links is not None:
        yield OrderedLinks(f"cluster.scale_out.links.{level}", links, f"{links:,} links")
    cables = getattr(written.cables or LinkCounts(), level)
    if cables is not None:
        carried = getattr(written.links_per_cable or LinkCounts(), level) or usual
        each = f" of {carried} links" if carried > 1 else ""
        yield OrderedLinks(f"cluster.scale_out.cables.{level}", cables * carried, f"{cables:,} cables{each}")


def crossed_levels(cluster: Cluster, nodes: int) -> Iterator[Level]:
    """The levels that the job's traffic crosses, since their blocks are smaller than the job."""
    yield from (level for level in fabric_levels(cluster) if level.nodes is None or nodes > level.nodes)


def oversubscription(cluster: Cluster, nodes: int) -> float:
    """The product of the ratios (down over up) of the levels that the job's traffic crosses; 1 if it crosses
    none.
    """
    return prod(level.oversubscription for level in crossed_levels(cluster, nodes))


def oversubscription_key(cluster: Cluster) -> str:
    """The key that states the ratios."""
    by_level = cluster.scale_out is not None and bool(cluster.scale_out.levels)
    return f"cluster.scale_out.{'levels' if by_level else 'oversubscription'}"


def known_runs(counts: FabricCount, written: ClusterSpec, cluster: Cluster) -> dict[str, Run]:
    """The longest cable runs by level, stated or derived."""

    from clusterspec.cluster.cable_runs import longest_runs  # most specs state neither lengths nor racks

    return longest_runs(cluster, written, counts.fabric.down_ports if counts.fabric else None)


def nodes_of_one_leaf(counts: FabricCount, scale_out: ScaleOut) -> int:
    """The nodes that share a leaf; 1 in a fabric that cannot be counted."""
    from clusterspec.cluster.cable_runs import nodes_of_leaf

    return nodes_of_leaf(scale_out, counts.fabric.down_ports) if counts.fabric is not None else 1


def link_rate(scale_out: ScaleOut) -> float:
    """The rate of one link of a NIC, B/s per direction."""
    return scale_out.nic_bandwidth.value / scale_out.planes


def connectors_of_node(cluster: Cluster, scale_out: ScaleOut) -> tuple[str, ...]:
    """The possible cage forms of a node on the fabric: of the platform if it fixes one, else of the NIC; empty if
    unknown.
    """
    platform, nic = cluster.platform, scale_out.nic
    if platform is not None and platform.connector and platform.connector != ON_BOARD:
        return (platform.connector,)
    own = nic.connector if nic is not None else None
    return (own, *nic.other_connectors) if nic is not None and own and own != ON_BOARD else ()


ON_BOARD = "on-board"
"""Connector of an adapter on the board, whose cages belong to the node."""
SAME_CAGE = {"QSFP112": ("QSFP56", "QSFP28"), "QSFP56": ("QSFP28",), "QSFP-DD": ("QSFP112", "QSFP56", "QSFP28")}
"""Older module forms that each cage form also accepts."""


def fits_cage(cages: tuple[str, ...], cage: str) -> bool:
    """Whether a module or cable end of these forms fits a cage.

    >>> fits_cage(("QSFP56",), "QSFP112"), fits_cage(("OSFP",), "QSFP112")
    (True, False)
    """
    return not cages or not cage or cage in cages or any(form in SAME_CAGE.get(cage, ()) for form in cages)


def may_have_no_fabric(design: Design, cluster: Cluster) -> bool:
    """Whether a fabric that the spec does not describe may be absent or may exist already. It may be absent if each
    engine is within a node, for serving nodes without a platform, and for a machine of one scale-up domain; a machine
    of unknown topology may share an existing fabric with free ports.
    """
    fabric = cluster.scale_out
    serves = design.workload is not None and design.workload.kind == "serve"
    if fabric is not None and fabric.sharing == "shared" and (fabric.topology == "unknown" or serves):
        return True
    written, workload = design.spec.cluster, design.workload
    section = written.scale_out if written is not None else None
    if section is None and cluster.accelerators <= cluster.scale_up.domain:
        return True
    undescribed = section is None or section.topology == "unknown"
    if undescribed and engines_stay_on_nodes(cluster, workload, design.layout):
        return True
    described = cluster.platform is not None or (written is not None and written.scale_out is not None)
    return not described and workload is not None and workload.kind == "serve"


def has_unknown_shape(design: Design) -> bool:
    """Whether the fabric's topology is unknown to the bill of materials although the spec states leaf switches."""
    out = design.spec.cluster.scale_out if design.spec.cluster else None
    return out is not None and out.topology == "unknown" and bool(out.leaf_switches)


def states_modules(design: Design) -> bool:
    """Whether the spec states the number of all modules of the fabric."""
    out = design.spec.cluster.scale_out if design.spec.cluster else None
    return out is not None and out.transceivers is not None


def states_links(design: Design, fabric: Fabric | None) -> bool:
    """Whether the spec states the links or the cables of every level of the fabric, so that none must be computed."""
    out = design.spec.cluster.scale_out if design.spec.cluster else None
    if out is None or fabric is None:
        return False
    return _is_stated(fabric, (out.cables, out.links))


def states_cabling(design: Design, fabric: Fabric | None) -> bool:
    """Whether the spec states cables or links per cable for every level, so that only one count is possible."""
    out = design.spec.cluster.scale_out if design.spec.cluster else None
    return out is not None and fabric is not None and _is_stated(fabric, (out.cables, out.links_per_cable))


def _is_stated(fabric: Fabric, sections: Sequence[object]) -> bool:
    """Whether for each level with links, at least one of the sections states a number."""
    levels = [level for level, links in fabric.links.items() if links]
    return all(any(getattr(stated, level, None) for stated in sections) for level in levels)
