"""Collectives on a torus, axis by axis. Floats or arrays.

An axis of size a is a closed ring (or an open line, where it does not wrap around) of links
that carry B bytes per second and direction; a rank sends both ways along it at once.
Source: Austin et al., "How to scale your model", Google DeepMind, 2025, chapter 3; Kumar et al.,
"Highly available data parallel ML training on mesh networks", arXiv 2011.03605.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("link_bandwidth * (1 + wraps)")
def axis_bandwidth(link_bandwidth: float, wraps: float) -> float:
    """The bandwidth of one rank along one axis in a collective: both directions of a ring, one of a line.

    ``wraps`` is 1 for an axis that closes, 0 for a line: B (1 + w).

    >>> axis_bandwidth(45e9, 1), axis_bandwidth(45e9, 0)
    (90000000000.0, 45000000000.0)
    """
    return link_bandwidth * (1 + wraps)


@formula("(ranks - 1) / ranks * size / bandwidth")
def gather_time(size: float, ranks: float, bandwidth: float) -> float:
    """Seconds of an all-gather or reduce-scatter whose parts run along all axes at once.

    t = (n − 1) / n · S / ΣB, with ΣB the bandwidth of a rank over all axes of the group.

    >>> gather_time(16e9, 16, 150e9)
    0.1
    """
    return (ranks - 1) / ranks * size / bandwidth


@formula("wraps * side / 4 + (1 - wraps) * (side * side - 1) / (3 * side)")
def average_hops(side: float, wraps: float) -> float:
    """Mean distance along one axis between two ranks, themselves included: a / 4 closed, a / 3 open.

    The open line has (a² − 1) / (3 a).

    >>> average_hops(16, 1), average_hops(4, 0)
    (4.0, 1.25)
    """
    return wraps * side / 4 + (1 - wraps) * (side * side - 1) / (3 * side)


@formula("size * hops / bandwidth")
def all_to_all_time(size: float, hops: float, bandwidth: float) -> float:
    """Seconds of an all-to-all along one axis: every byte occupies ``hops`` links.

    t = h S / B, with B both directions of the axis. On the longest axis of a torus this bounds
    the whole exchange.

    >>> all_to_all_time(1e9, 4.0, 100e9)
    0.04
    """
    return size * hops / bandwidth


@formula("wraps * side / 2 + (1 - wraps) * (side - 1)")
def steps(side: float, wraps: float) -> float:
    """Hops to the farthest rank of an axis: a / 2 in a ring, a − 1 along a line.

    >>> steps(16, 1), steps(4, 0)
    (8.0, 3.0)
    """
    return wraps * side / 2 + (1 - wraps) * (side - 1)
