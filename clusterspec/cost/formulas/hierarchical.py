"""Collectives in two tiers: inside islands, and between them. Floats or arrays.

k islands of m ranks each; B₁ bytes per second and direction of a rank inside, B₂ of all links
of an island outside. Source: Jia et al., "Highly scalable deep learning training system with
mixed-precision", arXiv 1807.11205, section 3.3; Cho et al., "BlueConnect", MLSys 2019.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.bus import all_reduce_factor


@formula("2 * (ranks_in_island - 1) / ranks_in_island * size / bandwidth")
def inside_time(size: float, ranks_in_island: float, bandwidth: float) -> float:
    """Seconds of the reduce-scatter and the all-gather inside an island: 2 (m − 1) / m · S / B₁.

    >>> inside_time(8e9, 8, 14e9)
    1.0
    """
    return all_reduce_factor(ranks_in_island) * size / bandwidth


@formula("2 * (islands - 1) / islands * size / island_bandwidth")
def between_time(size: float, islands: float, island_bandwidth: float) -> float:
    """Seconds of the all-reduce between islands, every rail with its own part: 2 (k − 1) / k · S / B₂.

    >>> between_time(4e9, 4, 6e9)
    1.0
    """
    return all_reduce_factor(islands) * size / island_bandwidth


@formula(
    "2 * (ranks_in_island - 1) / ranks_in_island * size / bandwidth + 2 * (islands - 1) / islands * size"
    " / island_bandwidth"
)
def all_reduce_time(
    size: float, ranks_in_island: float, islands: float, bandwidth: float, island_bandwidth: float
) -> float:
    """Seconds of the three phases one after the other: their sum.

    >>> S = 1e9
    >>> round(S / all_reduce_time(S, 8, 4, 450e9, 400e9) / 1e9, 1)
    130.9
    """
    inside = inside_time(size, ranks_in_island, bandwidth)
    return inside + between_time(size, islands, island_bandwidth)


@formula("rank_bandwidth * (ranks - 1) / (islands - 1)")
def bus_bandwidth_ceiling(ranks: float, islands: float, rank_bandwidth: float) -> float:
    """The highest bus bandwidth that ranks can show between islands: B (n − 1) / (k − 1).

    ``rank_bandwidth`` (B) is the share of one rank in the links of its island. It holds for an
    all-reduce, an all-gather and a reduce-scatter alike; k > 1.

    >>> bus_bandwidth_ceiling(16, 2, 50e9) / 1e9
    750.0
    """
    return rank_bandwidth * (ranks - 1) / (islands - 1)
