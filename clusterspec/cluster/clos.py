"""Folded Clos trees (fat trees) of whole switches and ports, and the transceiver modules at the ends of their links."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.records import dataclass
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.planes import SwitchCount

MOST_PORTS = 1_000_000
"""The most uplinks for which the search tries an even division; no switch has more."""


@dataclass(frozen=True)
class Ports:
    """The split of a switch's ports: ``down`` to the tier below, ``up`` to the tier above."""

    down: int
    up: int

    @classmethod
    def from_ratio(cls, ports: int, ratio: float) -> Ports:
        """The ports of a switch, divided into downlinks and uplinks by the ratio, with no more uplinks than the ratio
        requires.

        >>> Ports.from_ratio(64, 1.0), Ports.from_ratio(64, 3.0), Ports.from_ratio(64, 2.0)
        (Ports(down=32, up=32), Ports(down=48, up=16), Ports(down=42, up=21))
        """
        down = max(1, int(ports * ratio / (1 + ratio) + 1e-9))
        return cls(down, max(1, min(ports - down, ceiling(down / ratio - 1e-9))))


@dataclass(frozen=True)
class FoldedClos:
    """A counted plane. ``leaf_spine`` and ``spine_core`` are links; ``fits`` says whether these tiers can connect the
    endpoints. ``how`` explains spines and cores.
    """

    tiers: int
    leaves: int
    spines: int = 0
    cores: int = 0
    leaf_spine: int = 0
    spine_core: int = 0
    fits: bool = True
    pods: int = 1
    spines_of_pod: int = 0


def ceiling(value: float) -> int:
    """The smallest integer that is at least a value."""
    return -int(-value // 1)


def parts_needed(whole: int, part: int) -> int:
    """The number of parts of a size needed for the whole."""
    return -(-whole // part)


MAX_ADDED = 1.5
"""Maximum factor by which the number of switches may rise so that uplinks spread evenly. The published designs add up
to a third (12 → 16, 16 → 18, 32 → 36). This is a design choice, not a limit of the hardware.
"""


def even_switch_count(least: int, links: int) -> int:
    """Number of switches that share ``links`` uplinks evenly: the smallest divisor of ``links`` that is at least
    ``least``.

    Where that divisor exceeds `MAX_ADDED` times ``least``, it is ``least``, and links spread unevenly.

    >>> even_switch_count(12, 32), even_switch_count(32, 72), even_switch_count(33, 32), even_switch_count(18, 32)
    (16, 36, 33, 18)
    """
    if least > links or links > MOST_PORTS:
        return least
    small = [side for side in range(1, int(links**0.5) + 1) if links % side == 0]
    divisor = min(size for side in small for size in (side, links // side) if size >= least)
    return divisor if divisor <= MAX_ADDED * least else least


def spread_derivation(count: int, least: int, links: int) -> str:
    """The derivation of ``count`` switches from the ``least`` that the ports need, for ``links`` uplinks each below.

    >>> spread_derivation(16, 12, 32), spread_derivation(18, 18, 32), spread_derivation(16, 16, 32)
    ('12 by ports, 4 added so that 32 uplinks spread evenly', '18 by ports, 32 uplinks spread unevenly over them', '16')
    """
    if count > least:
        return f"{least} by ports, {count - least} added so that {links} uplinks spread evenly"
    return f"{least} by ports, {links} uplinks spread unevenly over them" if links % count else f"{count}"


def two_tier_clos(leaves: int, leaf: Ports, ports: int, links: int) -> FoldedClos:
    """Leaves below one row of spines, joined by ``links``; every leaf connects to every spine."""
    spines = even_switch_count(parts_needed(links, ports), parts_needed(links, leaves))
    return FoldedClos(2, leaves, spines, leaf_spine=links, fits=leaves <= ports, spines_of_pod=spines)


def three_tier_clos(leaves: int, leaf: Ports, ports: int, ratio: float, unit: int) -> FoldedClos:
    """Pods of leaves and spines below one row of cores, with the pod size that needs the fewest switches.

    A pod is one or more ``unit`` of leaves (in a rail fabric a leaf of every rail) with a full set of spines. The first
    spine of every pod connects to the first group of cores, the second to the second, and so on. ``ratio`` applies to
    the spines, down to up.
    """
    spine = Ports.from_ratio(ports, ratio)
    sizes = [unit << doubled for doubled in range(20) if unit << doubled <= max(unit, spine.down)]
    trees = [clos_in_pods(leaves, leaf, ports, ratio, size) for size in sizes]
    if not any(tree.fits for tree in trees):  # full pods, such as 20 leaves below spines of 40 ports
        trees.append(clos_in_pods(leaves, leaf, ports, ratio, max(unit, spine.down // unit * unit)))
    return min(trees, key=lambda tree: (not tree.fits, tree.spines + tree.cores, tree.spines_of_pod))


def evening_switch_count(switches: int, links: int, ports: int, below: int) -> int | None:
    """A switch count near ``switches`` over which ``links`` uplinks of each switch below spread evenly.

    None if they already do or if no near count does. ``below`` switches have these uplinks; a switch above has
    ``ports`` ports.

    >>> evening_switch_count(12, 32, 64, 16), evening_switch_count(10, 32, 64, 20)
    (16, None)
    >>> evening_switch_count(64, 32, 64, 16), evening_switch_count(16, 32, 64, 16)
    (8, None)
    """
    if links % switches == 0:
        return None
    near = [
        even_switch_count(least, links) for least in (switches, parts_needed(below * links, ports)) if least <= links
    ]
    near += [links] if switches > links else []
    return next((count for count in near if links % count == 0), None)


def clos_in_pods(leaves: int, leaf: Ports, ports: int, ratio: float, leaves_of_pod: int) -> FoldedClos:
    """Pods of a given size below one row of cores; the number of cores follows from the links."""
    spine = Ports.from_ratio(ports, ratio)
    pods = parts_needed(leaves, leaves_of_pod)
    spines = even_switch_count(parts_needed(leaves_of_pod * leaf.up, spine.down), leaf.up)
    up = min(spine.up, ceiling(parts_needed(leaves_of_pod * leaf.up, spines) / ratio - 1e-9))
    return FoldedClos(
        tiers=3,
        leaves=leaves,
        spines=pods * spines,
        cores=parts_needed(pods * spines * up, ports),
        leaf_spine=leaves * leaf.up,
        spine_core=pods * spines * up,
        fits=leaves_of_pod <= spine.down and pods <= ports,
        pods=pods,
        spines_of_pod=spines,
    )


# Cables between switches


def cables_between(links: int, lower: int, upper: int, carried: int) -> tuple[int, bool]:
    """Number of cables for ``links`` links between ``lower`` switches and the ``upper`` switches above each of them,
    and whether some cables are divided. A cable carries up to ``carried`` links.

    Links spread as evenly as possible over the switches of the row; the links of one switch spread likewise over the
    switches above. If at least as many links as a cable carries join two switches, they have separate cables; the last
    may carry fewer links. If two switches are joined by fewer links, a port of one is split to several others.

    >>> cables_between(430, 10, 4, 2), cables_between(256, 8, 4, 2), cables_between(64, 8, 8, 2)
    ((230, False), (128, False), (32, True))
    >>> cables_between(64, 1, 49, 2)  # 15 pairs of two links, 34 of one
    (32, True)
    """
    whole, short = 0, 0
    each, more = divmod(links, lower)
    for switches, own in ((more, each + 1), (lower - more, each)):
        of_pair, longer = divmod(own, upper)
        for pairs, joined in ((longer, of_pair + 1), (upper - longer, of_pair)):
            whole += switches * pairs * parts_needed(joined, carried) * (joined >= carried)
            short += switches * pairs * joined * (joined < carried)
    return whole + parts_needed(short, carried), short > 0


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
    half_empty: int = 0
    """Switch modules that a different distribution of the links over the switches would save."""

    @property
    def total(self) -> int:
        return self.node + self.leaf + self.spine + self.core

    @property
    def minimum_modules(self) -> int:
        """The lower bound of the module count: every cage with unknown ports takes two links, and no cage of a switch
        is half empty.
        """
        ends = {"node": self.node, "switch": self.leaf + self.spine + self.core}
        return self.total - sum(ends[end] for end in self.assumed) // 2 - self.half_empty


def counted_modules(
    cluster: Cluster, count: SwitchCount, cable_types: Mapping[str, str], links_per_cable: Mapping[str, int]
) -> ModuleCount:
    """Number of transceiver modules in all planes. ``cable_types`` and ``links_per_cable`` are by level, as named in
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
    carried = max(1, links_per_cable.get("node_leaf", 1))
    node, known, derived = (0, True, "fixed cable ends") if fixed else _node_modules(cluster, fabric, carried)
    of_rail = level_ends("node_leaf", parts_needed(endpoints, fabric.rails), count.leaves)
    full = fabric.rails * _full_modules(of_rail) + _full_modules(
        level_ends("leaf_spine", 2 * count.leaf_spine, count.leaves),
        level_ends("spine_core", 2 * count.spine_core, count.spines),
    )
    half_empty = max(0, leaf + spine + core - full) * fabric.planes if count.leaves > 1 else 0
    leaf, spine, core = (number * fabric.planes for number in (leaf, spine, core))
    unknown = "one for each cable, since the cages of the switch are not known"
    switches = f"{per_cage:g} port{'' if per_cage == 1 else 's'} a cage" if per_cage else unknown
    tiers = (("leaf", leaf, True), ("spine", spine, count.spines), ("core", core, count.cores))
    above = " + ".join(f"{name} {number:,}" for name, number, present in tiers if present)
    how = f"nodes {node:,} ({derived}) + {above} ({switches})"
    assumed = (() if known else ("node",)) + (() if per_cage else ("switch",))
    return ModuleCount(node, leaf, spine, core, assumed, how, half_empty)


@dataclass(frozen=True)
class _Ends:
    """The ends of ``links`` links that are spread over ``switches`` switches; one module terminates ``per_module``
    links.
    """

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


def _full_modules(*ends: _Ends) -> int:
    """The modules of the given ends if none has a free port."""
    return sum(-int(-each.links // each.per_module) for each in ends)


def ports_per_cage(fabric: ScaleOut) -> float | None:
    """Ports at the rate of a plane in one cage of the switch; None if the entry states no cages."""
    switch = fabric.switch
    if switch is None or not switch.cages or not fabric.switch_ports:
        return None
    return fabric.switch_ports / switch.cages


def _node_modules(cluster: Cluster, fabric: ScaleOut, carried: int) -> tuple[int, bool, str]:
    """Modules at the nodes, whether their cages are known, and the derivation of the count.

    A module of a node carries all planes of its NICs. Every extra endpoint has one. Where neither the platform nor the
    NIC says how many cages there are, a module carries the ``carried`` links of a cable.
    """
    nodes, extra = cluster.all_nodes, fabric.extra_endpoints
    more = f" + {plural(extra, 'extra endpoint')}" if extra else ""
    platform = cluster.platform
    if platform is not None and platform.cages and platform.nics_per_node:
        of_node = parts_needed(platform.cages * fabric.nics_per_node, platform.nics_per_node)
        return nodes * of_node + extra, True, f"{nodes:,} × {plural(of_node, 'cage')}{more}"
    of_node = fabric.nics_per_node
    known = fabric.nic is not None and fabric.nic.ports == 1 and fabric.nic.cages != 0
    if not known and carried > 1:
        of_node = parts_needed(fabric.nics_per_node * fabric.planes, carried)
        return nodes * of_node + extra, False, f"{nodes:,} × {plural(of_node, 'cable')}{more}"
    return nodes * of_node + extra, known, f"{nodes} × {plural(of_node, 'NIC')}, one each{more}"
