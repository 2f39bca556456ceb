"""Collectives on tori and over two tiers, and the bandwidth of a link from its lanes. Bytes, seconds, B/s."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.collectives import all_reduce_factor


@formula("link_bandwidth * (1 + wraps)")
def axis_bandwidth(link_bandwidth: float, wraps: float) -> float:
    """The bandwidth of one rank along one axis in a collective: a ring uses both directions, a line only one.

    B (1 + w), where ``wraps`` (w) is 1 for an axis that closes into a ring, 0 for a line.

    >>> axis_bandwidth(45e9, 1), axis_bandwidth(45e9, 0)
    (90000000000.0, 45000000000.0)
    """
    return link_bandwidth * (1 + wraps)


@formula("(ranks - 1) / ranks * size / bandwidth")
def gather_time(size: float, ranks: float, bandwidth: float) -> float:
    """Seconds of an all-gather or reduce-scatter whose parts run along all axes at once.

    t = (n − 1) / n · S / ΣB, with ΣB the bandwidth of a rank over all axes of the group.

    Range: ranks >= 1, bandwidth > 0.

    >>> gather_time(16e9, 16, 150e9)
    0.1
    """
    return (ranks - 1) / ranks * size / bandwidth


@formula("floor(side * side / 4) / side * size / bandwidth")
def all_to_all_time(size: float, side: float, bandwidth: float) -> float:
    """Seconds of an all-to-all of ``side`` ranks along one axis, limited by the links across its middle.

    t = ⌊a² / 4⌋ / a · S / B. Of a ranks, a / 2 send half of their bytes across the middle; B is the bandwidth across
    it in one direction: two links of a ring, one of a line. The axis that takes longest bounds the exchange of a torus.

    Range: side >= 1, bandwidth > 0.

    >>> all_to_all_time(1e9, 16, 100e9), all_to_all_time(1e9, 4, 50e9)
    (0.04, 0.02)
    """
    return side * side // 4 / side * size / bandwidth


@formula("wraps * side / 2 + (1 - wraps) * (side - 1)")
def farthest_hops(side: float, wraps: float) -> float:
    """Hops to the farthest rank of an axis: a / 2 in a ring, a − 1 along a line.

    Range: side >= 1, wraps <= 1.

    >>> farthest_hops(16, 1), farthest_hops(4, 0)
    (8.0, 3.0)
    """
    return wraps * side / 2 + (1 - wraps) * (side - 1)


# Collectives in two tiers: inside islands, and between them. Floats or arrays


@formula("2 * (ranks_in_island - 1) / ranks_in_island * size / bandwidth")
def inside_time(size: float, ranks_in_island: float, bandwidth: float) -> float:
    """Seconds of the reduce-scatter and the all-gather inside an island: 2 (m − 1) / m · S / B₁.

    Range: ranks_in_island >= 1, bandwidth > 0.

    >>> inside_time(8e9, 8, 14e9)
    1.0
    """
    return all_reduce_factor(ranks_in_island) * size / bandwidth


@formula("2 * (islands - 1) / islands * size / island_bandwidth")
def inter_island_time(size: float, islands: float, island_bandwidth: float) -> float:
    """Seconds of the all-reduce between islands, every rail with its own part: 2 (k − 1) / k · S / B₂.

    Range: islands >= 1, island_bandwidth > 0.

    >>> inter_island_time(4e9, 4, 6e9)
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
    """Seconds of an all-reduce over islands: the sum of three successive phases.

    Range: ranks_in_island >= 1, islands >= 1, bandwidth > 0, island_bandwidth > 0.

    >>> S = 1e9
    >>> round(S / all_reduce_time(S, 8, 4, 450e9, 400e9) / 1e9, 1)
    130.9
    """
    inside = inside_time(size, ranks_in_island, bandwidth)
    return inside + inter_island_time(size, islands, island_bandwidth)


@formula("lane * lanes * links")
def accelerator_bandwidth(lane: float, lanes: float, links: float) -> float:
    """Bandwidth of all links of one accelerator, per direction: lane × lanes × links.

    >>> accelerator_bandwidth(12.5e9, 2, 18) / 1e9, accelerator_bandwidth(2.5e9, 8, 4) / 1e9
    (450.0, 80.0)
    """
    return lane * lanes * links


@formula("2 * bandwidth")
def duplex_bandwidth(bandwidth: float) -> float:
    """Both directions summed.

    >>> duplex_bandwidth(450e9)
    900000000000.0
    """
    return 2 * bandwidth


@formula("nics * line_rate")
def node_bandwidth(nics: float, line_rate: float) -> float:
    """All NICs of a node at line rate, in the unit of ``line_rate``.

    >>> node_bandwidth(8, 50e9) / 1e9, node_bandwidth(24, 200)
    (400.0, 4800)
    """
    return nics * line_rate


@formula("(ranks - 1) * peer_bandwidth")
def mesh_bandwidth(peer_bandwidth: float, ranks: float) -> float:
    """The bandwidth of a rank of a full mesh to a group: one link to each other member, (k − 1) B.

    Range: ranks >= 1.

    >>> mesh_bandwidth(64e9, 8) / 1e9, mesh_bandwidth(64e9, 2) / 1e9
    (448.0, 64.0)
    """
    return (ranks - 1) * peer_bandwidth


@formula("accelerators / 2 * bandwidth")
def bisection_bandwidth(accelerators: float, bandwidth: float) -> float:
    """The bandwidth between the two halves of a non-blocking domain, one direction: n / 2 · B.

    >>> duplex_bandwidth(bisection_bandwidth(8, 450e9)) / 1e12, duplex_bandwidth(bisection_bandwidth(128, 450e9)) / 1e12
    (3.6, 57.6)
    """
    return accelerators / 2 * bandwidth
