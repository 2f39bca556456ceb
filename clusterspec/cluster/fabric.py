"""The scale-out fabric: optics by level, and the counts of switches, links and cables, each with its derivation."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from clusterspec.catalog.entries import Optics
from clusterspec.cluster.clos import FIBER, ModuleCount, cables_between, counted_modules, parts_needed
from clusterspec.cluster.model import Cluster, Design, ScaleOut
from clusterspec.cluster.planes import OrderedParts, SwitchCount, counted_plane
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.spec.model import LinkCounts, ScaleOutSpec
from clusterspec.standard import recent
from clusterspec.units.display import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Optics by level, from the lower to the upper end


@dataclass(frozen=True)
class LevelOptics:
    """The optics of one level; ``ends`` is one cable, or the modules of the lower and the upper end."""

    level: str
    ends: tuple[Optics, ...]
    listed: bool
    """The spec names both ends."""

    @property
    def lower_end(self) -> Optics:
        return self.ends[0]

    @property
    def upper_end(self) -> Optics:
        return self.ends[-1]

    @property
    def cable_type(self) -> str:
        """The type of the cable: as the catalog states for a cable with fixed ends; fiber between modules."""
        return FIBER if self.lower_end.type == "module" else self.lower_end.type


def cable_types(scale_out: ScaleOut, written: Mapping[str, str] | None) -> dict[str, str]:
    """The cable type of each level that states one, or names its optics."""
    return {one.level: one.cable_type for one in level_optics(scale_out)} | dict(written or {})


def level_optics(scale_out: ScaleOut) -> tuple[LevelOptics, ...]:
    """The optics of each level whose names are in the catalog."""
    return tuple(LevelOptics(level, ends, len(ends) > 1) for level, ends in scale_out.optics)


# The counts of switches, links and cables

TREES = ("fat-tree", "rail-optimized", "rail-only", "single-switch", "unknown")
"""Topologies that are counted; an unknown topology is counted as a fat tree."""
STATED = ("leaf_switches", "spine_switches", "core_switches", "transceivers", "links", "cables", "links_per_cable")
LEVELS = ("node_leaf", "leaf_spine", "spine_core")
"""The keys of links and cables: the two tiers that they connect."""

Links = Mapping[str, int]
"""Links or cables by `LEVELS`, over all planes."""


@dataclass(frozen=True)
class Fabric:
    """A counted fabric, all planes together.

    ``endpoints`` and ``capacity`` are ports of one plane: those required, and the most that these tiers and switches
    can connect (None for `levels`); ``fits`` says whether the endpoints fit, on every rail. ``down_ports`` and
    ``up_ports`` split one leaf. The ``least_…`` numbers are the minimum at the stated oversubscription if uplinks need
    not spread evenly and unused ports stay dark: an order below them is too small. ``derivations`` explain each number,
    by its name; ``stated`` holds the ordered or quoted numbers of the spec; ``pods`` are groups of leaves and spines
    below the cores. ``modules`` are the transceivers, one for each cage in use.
    """

    tiers: int
    planes: int
    switch: str
    switch_ports: int | None
    leaf_switches: int
    spine_switches: int
    core_switches: int
    links: Links
    cables: Links
    links_per_cable: Links
    modules: ModuleCount
    endpoints: int
    capacity: int | None
    fits: bool
    down_ports: int
    up_ports: int
    least_spine_switches: int
    least_core_switches: int
    least_leaf_spine_links: int
    derivations: Mapping[str, str]
    stated: Mapping[str, int | Mapping[str, int]]
    pods: int = 1

    @property
    def transceivers(self) -> int:
        """Modules over all planes; cables with fixed ends have none."""
        return self.modules.total

    def to_json(self) -> dict[str, Any]:
        """The counts of switches, transceivers, links and cables as JSON, with their derivations."""
        counts = ("tiers", "leaf_switches", "spine_switches", "core_switches", "transceivers")
        return {name: getattr(self, name) for name in counts} | {
            "links": dict(self.links),
            "cables": dict(self.cables),
            "stated": {name: value if isinstance(value, int) else dict(value) for name, value in self.stated.items()},
            "planes": self.planes,
            "switch": self.switch,
            "switch_ports": self.switch_ports,
            "derivations": dict(self.derivations),
        }


@dataclass(frozen=True)
class NoFabric:
    """The result in place of a fabric if the customer builds none, or if the fabric cannot be counted; ``why`` is the
    reason.

    ``needed`` says that the customer builds a fabric of unknown parts.
    """

    why: str
    needed: bool = False


@recent(8)
def counted_fabric(design: Design) -> Fabric | None:
    """The counted fabric of a design; None if it has none, or it cannot be counted."""
    written = design.spec.cluster.scale_out if design.spec.cluster else None
    found = fabric_of_cluster(design.cluster, written) if design.cluster is not None else None
    return found if isinstance(found, Fabric) else None


def fabric_of_cluster(cluster: Cluster, written: ScaleOutSpec | None = None) -> Fabric | NoFabric:
    """Counts the switch fabric of a cluster, with spare nodes and extra endpoints cabled.

    ``written`` is the section of the spec: it states the links per cable, and what was ordered. If there are fewer
    leaves than separate rails need, rails share them.
    """
    scale_out = cluster.scale_out
    if cluster.all_nodes == 1:
        return NoFabric("one node needs no fabric")
    if scale_out is None:
        return NoFabric("no scale-out network is described")
    if cluster.cloud or scale_out.technology.cloud:
        return NoFabric("the fabric belongs to the cloud provider")
    if scale_out.topology not in TREES:
        return _uncounted_fabric(cluster, scale_out)
    if scale_out.levels:
        from clusterspec.cluster.levels import counted_levels  # few specs list levels

        count = counted_levels(cluster, scale_out.switch_ports)
    else:
        ordered = _ordered_parts(written or ScaleOutSpec()).divided_parts(scale_out.planes)
        count = counted_plane(cluster, scale_out.switch_ports, ordered) if scale_out.switch_ports else None
    if count is None:
        return NoFabric("the ports of a switch are not known: state `switch` or `switch_ports`", needed=True)
    return _fabric_of_planes(cluster, count, written or ScaleOutSpec())


def _uncounted_fabric(cluster: Cluster, scale_out: ScaleOut) -> NoFabric:
    """Why a topology other than `TREES` has no count."""
    if scale_out.topology == "direct":
        cables = plural(parts_needed(cluster.all_nodes * scale_out.nics_per_node, 2), "cable")
        return NoFabric(f"{cables} between the NICs of the nodes, and no switch")
    why = f"a {scale_out.topology} is not counted, only fat trees, rails and single switches are"
    return NoFabric(why, needed=True)


def _ordered_parts(written: ScaleOutSpec) -> OrderedParts:
    links = written.links.leaf_spine if written.links else None
    return OrderedParts(written.leaf_switches, written.spine_switches, links)


def _fabric_of_planes(cluster: Cluster, count: SwitchCount, written: ScaleOutSpec) -> Fabric:
    scale_out = cluster.scale_out
    assert scale_out is not None
    planes = scale_out.planes
    nodes = cluster.all_nodes
    endpoints = nodes * scale_out.nics_per_node + scale_out.extra_endpoints
    between = (endpoints, count.leaf_spine, count.spine_core)
    links = {level: number * planes for level, number in zip(LEVELS, between, strict=True)}
    carries = _links_of_cable(cluster, scale_out, written.links_per_cable or LinkCounts())
    per_cable = {level: carries[level].links for level in LEVELS}
    built = _count_with_stated_spines(count, written, planes)
    cables = {level: -(-number // per_cable[level]) for level, number in links.items()}
    pairs = _cables_of_pairs(scale_out, built, carries)
    cables |= {level: number * planes for level, (number, _) in pairs.items()}
    types = cable_types(scale_out, written.cable_type)
    modules = counted_modules(cluster, built, types, per_cable)
    return Fabric(
        tiers=count.tiers,
        planes=planes,
        switch=_switch_name(cluster),
        switch_ports=scale_out.switch_ports,
        leaf_switches=count.leaves * planes,
        spine_switches=count.spines * planes,
        core_switches=count.cores * planes,
        links=links,
        cables=cables,
        links_per_cable=per_cable,
        modules=modules,
        endpoints=endpoints,
        capacity=count.capacity,
        fits=count.fits,
        down_ports=count.ports.down,
        up_ports=count.ports.up,
        least_spine_switches=count.least_spines * planes,
        least_core_switches=count.least_cores * planes,
        least_leaf_spine_links=count.least_leaf_spine * planes,
        derivations=_derivation_texts(cluster, count, carries, pairs) | {"transceivers": modules.how},
        stated=_stated_counts(written),
        pods=count.pods,
    )


def _count_with_stated_spines(count: SwitchCount, written: ScaleOutSpec, planes: int) -> SwitchCount:
    """A counted plane with the number of spines that the spec states, if that number suffices; otherwise the plane as
    counted.
    """
    spines = (written.spine_switches or 0) // planes
    return replace(count, spines=spines) if count.spines and spines >= count.least_spines > 0 else count


def _cables_of_pairs(
    scale_out: ScaleOut, count: SwitchCount, carries: Mapping[str, _LinksOfCable]
) -> dict[str, tuple[int, bool]]:
    """Cables between the switches of one plane, by level.

    A leaf leads to the spines of its pod, or of its rail where rails have trees of their own; a spine to the cores of
    its group. Each number has a flag: whether some cables are divided. Two kinds of levels are absent: those whose
    links per cable the spec states, because such a cable may be a trunk, and those of `levels`, because these count
    switches without stating which are joined.
    """
    if scale_out.levels:
        return {}
    apart = scale_out.topology == "rail-only" and count.tiers > 1
    spines = count.spines // (scale_out.rails if apart else count.pods)
    rows = {}
    if spines:
        rows["leaf_spine"] = (count.leaf_spine, count.leaves, spines)
    if spines and count.cores:
        rows["spine_core"] = (count.spine_core, count.spines, count.cores // gcd(spines, count.cores))
    return {level: cables_between(*row, carries[level].links) for level, row in rows.items() if carries[level].of_ports}


class _LinksOfCable(NamedTuple):
    """The number of links in one cable, and the reason. ``of_ports`` is true if the number follows from the switch
    ports and the spec does not state it.
    """

    links: int
    why: str
    of_ports: bool


def _links_of_cable(cluster: Cluster, scale_out: ScaleOut, counts: LinkCounts) -> dict[str, _LinksOfCable]:
    """The links per cable by level, with the reason.

    A port below the rate of its cage is one part of a breakout cable. A NIC with several planes takes one cable per
    port, and unsplit ports connect switches, as in published counts of dual-plane designs. Ports on accelerators that
    share a cage of the node share its cable, up to the number that one switch port takes.
    """
    rate = scale_out.nic_bandwidth.value / scale_out.planes
    at_node = max(1, scale_out.planes // min(scale_out.planes, _connectors_per_nic(scale_out)))
    full = scale_out.switch.port_bandwidth.value if scale_out.switch and scale_out.switch.port_bandwidth else None
    between = max(1, int(round((full or scale_out.nic_bandwidth.value) / rate, 6)))
    why = f"a cable has {at_node} planes of a NIC"
    if (shared := min(between, _ports_in_cage(cluster, scale_out))) > at_node:
        at_node, why = shared, f"a cage of the node has {shared} ports, and a port of the switch takes them"
    reason = (
        f"a cable is one port of the switch, {between} links"
        if full
        else f"a cable has the rate of a NIC, {between} links"
    )
    usual = {
        "node_leaf": _LinksOfCable(at_node, why, of_ports=False),
        "leaf_spine": _LinksOfCable(between, reason, of_ports=True),
        "spine_core": _LinksOfCable(between, reason, of_ports=True),
    }
    written = {level: getattr(counts, level) for level in LEVELS}
    return {
        level: _LinksOfCable(written[level], f"{written[level]} links a cable, as stated", of_ports=False)
        if written[level]
        else usual[level]
        for level in LEVELS
    }


def _ports_in_cage(cluster: Cluster, scale_out: ScaleOut) -> int:
    """The number of accelerator ports that share one cage of the node; 1 if the ports belong to NICs."""
    cages = cluster.platform.cages if cluster.platform and scale_out.technology.on_accelerator else None
    return max(1, scale_out.nics_per_node // cages) if cages else 1


def _connectors_per_nic(scale_out: ScaleOut) -> int:
    """Cables per NIC: the cages of the named adapter, else its ports; one if no adapter is named."""
    nic = scale_out.nic
    return (nic.cages or nic.ports or 1) if nic is not None else 1


def _switch_name(cluster: Cluster) -> str:
    scale_out = cluster.scale_out
    if scale_out is not None and scale_out.switch is not None:
        return scale_out.switch.id
    return f"{scale_out.switch_ports}-port switch" if scale_out and scale_out.switch_ports else "switch"


def _rounding_text(pairs: tuple[int, bool] | None) -> str:
    """How links are rounded up to cables; ``pairs`` is the cable count of switch pairs, or None if cables are not
    counted by pair.
    """
    if pairs is None:
        return "rounded up"
    _, divided = pairs
    return "divided where two switches have fewer links" if divided else "rounded up for each pair of switches"


def _derivation_texts(
    cluster: Cluster, count: SwitchCount, carries: Mapping[str, _LinksOfCable], pairs: Mapping[str, tuple[int, bool]]
) -> dict[str, str]:
    scale_out = cluster.scale_out
    assert scale_out is not None
    planes = f", in each of {scale_out.planes} planes" if scale_out.planes > 1 else ""
    spares = f" and {cluster.spare_nodes:,} spare" if cluster.spare_nodes else ""
    extra = f" + {scale_out.extra_endpoints} extra endpoints" if scale_out.extra_endpoints else ""
    nodes = f"({cluster.nodes:,}{spares} nodes)" if spares else f"{cluster.nodes:,} nodes"
    ends = f"{nodes} × {plural(scale_out.nics_per_node, 'NIC')}{extra}"
    return (
        {name: text + planes * ("none" not in text) for name, text in count.how.items()}
        | {
            "node_leaf": f"{ends}{planes}",
        }
        | {
            f"cables_{level}": "one per link"
            if carried.links == 1
            else f"{carried.why}, {_rounding_text(pairs.get(level))}"
            for level, carried in carries.items()
        }
    )


def _stated_counts(written: ScaleOutSpec) -> dict[str, int | Mapping[str, int]]:
    stated: dict[str, int | Mapping[str, int]] = {}
    for name in STATED:
        value = getattr(written, name)
        if isinstance(value, LinkCounts):
            counts = {key: getattr(value, key) for key in LEVELS}
            stated[name] = {key: number for key, number in counts.items() if number is not None}
        elif value is not None:
            stated[name] = value
    return stated
