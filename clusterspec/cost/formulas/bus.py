"""The two bandwidths that nccl-tests prints. Floats or arrays; bytes, seconds, bytes per second.

Source of all: NVIDIA, nccl-tests, doc/PERFORMANCE.md. The size of an all-gather or a
reduce-scatter is the whole buffer, gathered or before scattering.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("size / seconds")
def algorithm_bandwidth(size: float, seconds: float) -> float:
    """The rate seen by the caller: algbw = S / t.

    >>> algorithm_bandwidth(1e9, 0.01)
    100000000000.0
    """
    return size / seconds


@formula("2 * (ranks - 1) / ranks")
def all_reduce_factor(ranks: float) -> float:
    """Bytes that each rank sends per byte of a ring all-reduce: f = 2 (n − 1) / n.

    >>> all_reduce_factor(8), all_reduce_factor(64), all_reduce_factor(1)
    (1.75, 1.96875, 0.0)
    """
    return 2 * (ranks - 1) / ranks


@formula("(ranks - 1) / ranks")
def gather_factor(ranks: float) -> float:
    """The same of an all-gather, a reduce-scatter or an all-to-all: f = (n − 1) / n.

    >>> gather_factor(8), gather_factor(1)
    (0.875, 0.0)
    """
    return (ranks - 1) / ranks


@formula("factor * size / seconds")
def bus_bandwidth(size: float, seconds: float, factor: float) -> float:
    """The rate on each link if the algorithm were a ring: busbw = f S / t.

    ``factor`` is that of the collective; it is 1 for a broadcast and a send. Where switches
    reduce, or a tree spans two nodes, it exceeds what any wire carries.

    >>> round(bus_bandwidth(17179869184, 0.127997, all_reduce_factor(8)) / 1e9, 2)
    234.89
    """
    return factor * size / seconds


@formula("factor * size / busbw")
def seconds_at(size: float, busbw: float, factor: float) -> float:
    """The time that a bus bandwidth represents: t = f S / busbw.

    >>> round(seconds_at(17179869184, 234.89e9, all_reduce_factor(8)), 4)
    0.128
    """
    return factor * size / busbw
