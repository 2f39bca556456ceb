"""One plane counted from `levels`, transceiver modules, and the switch levels that groups of ranks cross."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.clos import Ports, ceiling, even_switch_count, parts_needed
from clusterspec.cluster.model import Cluster, Level, ScaleOut
from clusterspec.cluster.planes import SwitchCount, tier_count
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass
from clusterspec.units import plural


@dataclass(frozen=True)
class _Row:
    """The switches of one level, and the minimum that its links need.

    ``links_up`` is the number of links that leave the level, over all blocks, at ``rate`` B/s per direction;
    ``up_of_switch`` the number per switch.
    """

    switches: int
    least: int
    links_up: int
    rate: float
    up_of_switch: int
    how: str


def count_levels(cluster: Cluster, ports: int | None) -> SwitchCount | None:
    """Counts one plane level by level; ``ports`` belong to a switch whose level states none.

    None if the ports of some level, or the nodes of a block of one below the last, are not known. A last level of
    several blocks has a row of switches above it.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    if any(level.nodes is None for level in fabric.levels[:-1]):
        return None
    nodes = cluster.all_nodes
    endpoints = nodes * fabric.nics_per_node + fabric.extra_endpoints
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    below = _Row(0, 0, endpoints, fabric.nic_bandwidth.value / fabric.planes, 0, "")
    rows: list[_Row] = []
    for level in _levels_to_one_block(fabric.levels, nodes):
        radix = level.switch_ports or ports
        if radix is None:
            return None
        below = _level_row(level, nodes, below, radix, 1 if rows else rails)
        rows.append(below)
    return _switches_of_rows(rows, endpoints)


def _levels_to_one_block(levels: tuple[Level, ...], nodes: int) -> tuple[Level, ...]:
    """The levels up to the first whose block holds all nodes, with one more above the last where none does."""
    whole = next((index for index, level in enumerate(levels) if level.nodes and level.nodes >= nodes), len(levels))
    levels = levels[: whole + 1]
    last = levels[-1]
    if last.nodes is None or last.nodes >= nodes:
        return levels
    return (*levels, Level(f"above {last.name}", None, 1.0, last.switch_ports))


def _level_row(level: Level, nodes: int, below: _Row, ports: int, unit: int) -> _Row:
    """One level above ``below``; its number of switches is a multiple of ``unit`` per block."""
    size = min(level.nodes or nodes, nodes)
    blocks = parts_needed(nodes, size)
    down = parts_needed(below.links_up * size, nodes)
    rate = level.uplink_bandwidth.value if level.uplink_bandwidth else below.rate
    up = 0 if blocks == 1 else ceiling(down * below.rate / level.oversubscription / rate - 1e-9)
    least = parts_needed(down + up, ports)
    count = unit * parts_needed(even_switch_count(least, below.up_of_switch) if below.up_of_switch else least, unit)
    of_switch = parts_needed(up, count)
    links = max(up, min(count * of_switch, count * ports - down))  # an even spread, as far as ports are left
    ends = f"({down} links down + {up} up) / {ports} ports, rounded up to {count}"
    how = f"{plural(blocks, 'block')} of {size} nodes × ({ends})"
    return _Row(blocks * count, blocks * least, blocks * links, rate, of_switch, how)


def _switches_of_rows(rows: list[_Row], endpoints: int) -> SwitchCount:
    leaf, above, core = rows[0], rows[1:2], rows[2:]
    return SwitchCount(
        tiers=len(rows),
        ports=Ports(parts_needed(endpoints, leaf.switches), leaf.up_of_switch),
        leaves=leaf.switches,
        spines=sum(row.switches for row in above),
        cores=sum(row.switches for row in core),
        leaf_spine=leaf.links_up if above else 0,
        spine_core=above[0].links_up if core else 0,
        fits=True,
        capacity=None,
        least_spines=sum(row.least for row in above),
        least_cores=sum(row.least for row in core),
        least_leaf_spine=leaf.links_up if above else 0,
        how=_level_derivations(rows),
    )


def _level_derivations(rows: list[_Row]) -> dict[str, str]:
    spine = rows[1].how if len(rows) > 1 else "one level has none"
    core = "; ".join(row.how for row in rows[2:]) or "these levels have none"
    up = "the links below divided by the ratios of the levels, equal for every switch"
    return {
        "leaf_switches": rows[0].how,
        "spine_switches": spine,
        "core_switches": core,
        "leaf_spine": up,
        "spine_core": up,
    }


# Transceiver modules of the scale-out fabric, counted by cage

FIXED_ENDS = frozenset({"dac", "acc", "aec", "aoc"})
"""Cable types whose ends are part of the cable."""
FIBER = "fiber"
"""The default cable type, with a module at each end, as in reference designs that state no cables."""


@dataclass(frozen=True)
class ModuleCount:
    """Number of modules in all planes, by position.

    ``assumed`` names the ends (``node``, ``switch``) with cages that no entry states: each port is assumed to have its
    own module, the upper limit. ``how`` derives the sum.
    """

    node: int
    leaf: int
    spine: int
    core: int
    assumed: tuple[str, ...]
    how: str

    @property
    def total(self) -> int:
        return self.node + self.leaf + self.spine + self.core

    @property
    def needed_at_least(self) -> int:
        """The modules that are needed even if every cage whose ports are not known takes two links."""
        ends = {"node": self.node, "switch": self.leaf + self.spine + self.core}
        return self.total - sum(ends[end] for end in self.assumed) // 2


def count_modules(
    cluster: Cluster, count: SwitchCount, cable_types: Mapping[str, str], links_per_cable: Mapping[str, int]
) -> ModuleCount:
    """Modules of a counted plane times its planes; ``cable_types`` and ``links_per_cable`` by the names of
    `fabric.LEVELS`.

    Where the cages of the switch are not known, a module carries the links of one cable.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    per_cage = ports_per_cage(fabric)

    def level_ends(level: str, links: int, switches: int) -> _Ends:
        optical = cable_types.get(level, FIBER) not in FIXED_ENDS
        return _Ends(links if optical else 0, switches, per_cage or float(links_per_cable.get(level, 1)))

    endpoints = cluster.all_nodes * fabric.nics_per_node + fabric.extra_endpoints
    leaf = _tier_module_count(
        level_ends("node_leaf", endpoints, count.leaves), level_ends("leaf_spine", count.leaf_spine, count.leaves)
    )
    spine = _tier_module_count(
        level_ends("leaf_spine", count.leaf_spine, count.spines),
        level_ends("spine_core", count.spine_core, count.spines),
    )
    core = _tier_module_count(level_ends("spine_core", count.spine_core, count.cores))
    fixed = cable_types.get("node_leaf", FIBER) in FIXED_ENDS
    node, known, derived = (0, True, "fixed cable ends") if fixed else _node_modules(cluster, fabric)
    leaf, spine, core = (number * fabric.planes for number in (leaf, spine, core))
    unknown = "one for each cable, since the cages of the switch are not known"
    switches = f"{per_cage:g} port{'' if per_cage == 1 else 's'} a cage" if per_cage else unknown
    tiers = (("leaf", leaf, True), ("spine", spine, count.spines), ("core", core, count.cores))
    above = " + ".join(f"{name} {number:,}" for name, number, present in tiers if present)
    how = f"nodes {node:,} ({derived}) + {above} ({switches})"
    assumed = (() if known else ("node",)) + (() if per_cage else ("switch",))
    return ModuleCount(node, leaf, spine, core, assumed, how)


@dataclass(frozen=True)
class _Ends:
    """The ends of ``links`` at a number of ``switches``, with ``per_module`` links per module."""

    links: int
    switches: int
    per_module: float


def _tier_module_count(*ends: _Ends) -> int:
    """Modules of one tier of a plane; links spread over its switches as evenly as possible.

    Down and up links may share a cage where the cages of the switch are known.
    """
    switches = ends[0].switches
    if not switches:
        return 0
    if len({end.per_module for end in ends}) > 1:
        return sum(_tier_module_count(end) for end in ends)
    links, per_module = sum(end.links for end in ends), ends[0].per_module
    each, fuller = divmod(links, switches)
    return fuller * -int(-(each + 1) // per_module) + (switches - fuller) * -int(-each // per_module)


def ports_per_cage(fabric: ScaleOut) -> float | None:
    """Ports at the rate of a plane in one cage of the switch; None if the entry states no cages."""
    switch = fabric.switch
    if switch is None or not switch.cages or not fabric.switch_ports:
        return None
    return fabric.switch_ports / switch.cages


def _node_modules(cluster: Cluster, fabric: ScaleOut) -> tuple[int, bool, str]:
    """Modules at the nodes, whether their cages are known, and the derivation of the count.

    A module of a node carries all planes of its NICs. Every extra endpoint has one.
    """
    nodes, extra = cluster.all_nodes, fabric.extra_endpoints
    more = f" + {plural(extra, 'extra endpoint')}" if extra else ""
    platform = cluster.platform
    if platform is not None and platform.cages and platform.nics_per_node:
        of_node = parts_needed(platform.cages * fabric.nics_per_node, platform.nics_per_node)
        return nodes * of_node + extra, True, f"{nodes:,} × {plural(of_node, 'cage')}{more}"
    of_node = fabric.nics_per_node
    known = fabric.nic is not None and fabric.nic.ports == 1 and fabric.nic.cages != 0
    return nodes * of_node + extra, known, f"{nodes} × {plural(of_node, 'NIC')}, one each{more}"


# The switch levels of the fabric that groups of ranks cross


def fabric_levels(cluster: Cluster) -> tuple[Level, ...]:
    """The levels of the scale-out fabric from the leaf upward, each with the nodes under one block of it.

    The levels come from `levels` if the spec has it. Else the level is the pod, if the spec states that the
    oversubscription is above it. Else there is one level per ratio, and a leaf has as many nodes as its ports allow. A
    level with an unknown number of nodes is assumed to be crossed by all traffic that crosses the level below it. A
    fabric of one tier, or of cables alone, has no level to cross, and one of n tiers has n - 1; the bill of materials
    counts the same (`fabric_plane`).
    """
    fabric = cluster.scale_out
    if fabric is None:
        return ()
    if fabric.levels:
        return _levels_with_nodes(fabric.levels)
    tiers = tier_count(cluster)
    if tiers == 1 or fabric.topology == "direct":
        return ()
    if fabric.pod_nodes:
        return (Level("pod", fabric.pod_nodes, fabric.taper),)
    names = ("leaf", "spine", "core")
    built = fabric.oversubscription[: tiers - 1] if tiers else fabric.oversubscription
    leaf, *above = (Level(names[min(index, 2)], None, ratio) for index, ratio in enumerate(built))
    return _levels_with_nodes((Level(leaf.name, _nodes_of_leaf(fabric), leaf.oversubscription), *above))


def _nodes_of_leaf(fabric: ScaleOut) -> int:
    """Nodes that share a leaf; 1 if the ports of a switch are unknown, so that all traffic between nodes crosses the
    leaf.
    """
    if not fabric.switch_ports:
        return 1
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    per_leaf = parts_needed(fabric.nics_per_node, rails)
    return max(1, Ports.from_ratio(fabric.switch_ports, fabric.oversubscription[0]).down // per_leaf)


def _levels_with_nodes(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    bounded: list[Level] = []
    for level in levels:
        below = bounded[-1].nodes if bounded else 1
        nodes = level.nodes or below
        bounded.append(
            Level(level.name, nodes, level.oversubscription, level.switch_ports, level.uplink_bandwidth, level.count)
        )
    return tuple(bounded)
