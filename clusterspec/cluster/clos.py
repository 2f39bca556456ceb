"""Counts the switches of folded Clos fabrics (fat trees), in whole switches and whole ports.

One plane at a time, in ports of one rate. The uplinks of every leaf are cabled even where nodes are
missing. They are spread evenly where that takes at most half as many spines again as the ports need:
the spines above a leaf then divide its uplinks, and the cores above a spine divide the spine's. The
published DGX SuperPOD reference architectures count so: 95 nodes have 16 spines, not 12, because 12
does not divide 32 uplinks. Where an even spread takes more (32 spines for 18), some pairs of
switches have one link more than others.
"""

from __future__ import annotations

from clusterspec.records import dataclass

MOST_PORTS = 1_000_000
"""Uplinks above which no even division is looked for; no switch has so many."""


@dataclass(frozen=True, slots=True)
class Ports:
    """How the ports of a switch are split: ``down`` to what is below it, ``up`` to what is above."""

    down: int
    up: int

    @classmethod
    def split(cls, ports: int, ratio: float) -> Ports:
        """Whole ports at a ratio of down to up, no more of them up than the ratio asks for.

        >>> Ports.split(64, 1.0), Ports.split(64, 3.0), Ports.split(64, 2.0)
        (Ports(down=32, up=32), Ports(down=48, up=16), Ports(down=42, up=21))
        """
        down = max(1, int(ports * ratio / (1 + ratio) + 1e-9))
        return cls(down, max(1, min(ports - down, ceiling(down / ratio - 1e-9))))


@dataclass(frozen=True, slots=True)
class FoldedClos:
    """A counted plane. ``leaf_spine`` and ``spine_core`` are links; ``fits`` says whether so many
    endpoints can be joined by these tiers at all. ``how`` explains spines and cores.
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
    """The smallest whole number that is not below a value."""
    return -int(-value // 1)


def parts(whole: int, part: int) -> int:
    """How many parts of a size hold the whole."""
    return -(-whole // part)


MOST_ADDED = 1.5
"""Switches that an even spread of uplinks may take, over those that the ports need. The published
designs add up to a third (12 → 16, 16 → 18, 32 → 36); a design choice, not a limit of the hardware."""


def even(least: int, links: int) -> int:
    """The switches over which so many links are spread: at least ``least``, and a divisor of ``links``
    where one is at most `MOST_ADDED` times as many.

    >>> even(12, 32), even(32, 72), even(33, 32), even(18, 32)
    (16, 36, 33, 18)
    """
    if least > links or links > MOST_PORTS:
        return least
    small = [side for side in range(1, int(links**0.5) + 1) if links % side == 0]
    divisor = min(size for side in small for size in (side, links // side) if size >= least)
    return divisor if divisor <= MOST_ADDED * least else least


def say_spread(count: int, least: int, links: int) -> str:
    """How ``count`` switches follow from the ``least`` that the ports need, for ``links`` uplinks each below.

    >>> say_spread(16, 12, 32), say_spread(18, 18, 32), say_spread(16, 16, 32)
    ('12 by ports, 4 added so that 32 uplinks spread evenly', '18 by ports, 32 uplinks spread unevenly over them', '16')
    """
    if count > least:
        return f"{least} by ports, {count - least} added so that {links} uplinks spread evenly"
    return f"{least} by ports, {links} uplinks spread unevenly over them" if links % count else f"{count}"


def two_tiers(leaves: int, leaf: Ports, ports: int) -> FoldedClos:
    """Leaves below one row of spines; every leaf reaches every spine."""
    links = leaves * leaf.up
    spines = even(parts(links, ports), leaf.up)
    return FoldedClos(2, leaves, spines, leaf_spine=links, fits=leaves <= ports, spines_of_pod=spines)


def three_tiers(leaves: int, leaf: Ports, ports: int, ratio: float, unit: int) -> FoldedClos:
    """Pods of leaves and spines below one row of cores: the pods that take fewest switches.

    A pod is one or more ``unit`` of leaves (in a rail fabric a leaf of every rail) with a full set of
    spines; the first spine of every pod reaches the first group of cores, the second the second, and so
    on. ``ratio`` is that of the spines, down to up.
    """
    spine = Ports.split(ports, ratio)
    sizes = [unit << doubled for doubled in range(20) if unit << doubled <= max(unit, spine.down)]
    trees = [in_pods(leaves, leaf, ports, ratio, size) for size in sizes]
    return min(trees, key=lambda tree: (not tree.fits, tree.spines + tree.cores, tree.spines_of_pod))


def in_pods(leaves: int, leaf: Ports, ports: int, ratio: float, leaves_of_pod: int) -> FoldedClos:
    """The same, where the size of a pod is given."""
    spine = Ports.split(ports, ratio)
    pods = parts(leaves, leaves_of_pod)
    spines = even(parts(leaves_of_pod * leaf.up, spine.down), leaf.up)
    up = min(spine.up, ceiling(parts(leaves_of_pod * leaf.up, spines) / ratio - 1e-9))
    cores = even(parts(pods * up, ports), up)
    return FoldedClos(
        tiers=3,
        leaves=leaves,
        spines=pods * spines,
        cores=spines * cores,
        leaf_spine=leaves * leaf.up,
        spine_core=pods * spines * up,
        fits=leaves_of_pod <= spine.down and pods <= ports,
        pods=pods,
        spines_of_pod=spines,
    )
