"""Folded Clos trees (fat trees) of whole switches and ports."""

from __future__ import annotations

from clusterspec.records import dataclass

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
"""Limit of switches for an even spread of uplinks, over those that the ports need. The published designs add up to a
third (12 → 16, 16 → 18, 32 → 36); a design choice, not a limit of the hardware.
"""


def even_switch_count(least: int, links: int) -> int:
    """Switches over which ``links`` uplinks spread: the next divisor of ``links``, at least ``least``.

    Where that divisor exceeds `MAX_ADDED` times ``least``, it is ``least``, and links spread unevenly.

    >>> even_switch_count(12, 32), even_switch_count(32, 72), even_switch_count(33, 32), even_switch_count(18, 32)
    (16, 36, 33, 18)
    """
    if least > links or links > MOST_PORTS:
        return least
    small = [side for side in range(1, int(links**0.5) + 1) if links % side == 0]
    divisor = min(size for side in small for size in (side, links // side) if size >= least)
    return divisor if divisor <= MAX_ADDED * least else least


def describe_spread(count: int, least: int, links: int) -> str:
    """The derivation of ``count`` switches from the ``least`` that the ports need, for ``links`` uplinks each below.

    >>> describe_spread(16, 12, 32), describe_spread(18, 18, 32), describe_spread(16, 16, 32)
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
    """Pods of a given size below one row of as many cores as the links need."""
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
