"""Ring algorithms. Floats or arrays; bytes, seconds, bytes per second and direction.

Source of all: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", JPDC 69(2), 2009. S is the size as nccl-tests counts it.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.bus import all_reduce_factor, gather_factor


@formula("ranks - 1")
def gather_steps(ranks: float) -> float:
    """Steps of a ring all-gather or reduce-scatter: n − 1.

    >>> gather_steps(8)
    7
    """
    return ranks - 1


@formula("2 * (ranks - 1)")
def all_reduce_steps(ranks: float) -> float:
    """Steps of a ring all-reduce, a reduce-scatter and an all-gather: 2 (n − 1).

    >>> all_reduce_steps(8)
    14
    """
    return 2 * (ranks - 1)


@formula("(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth")
def gather_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of a ring all-gather or reduce-scatter: t = (n − 1) (α + S / (n B)).

    >>> gather_time(8e9, 8, 50e9)
    0.14
    """
    return gather_steps(ranks) * latency + gather_factor(ranks) * size / bandwidth


@formula("2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / bandwidth")
def all_reduce_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of a ring all-reduce: t = 2 (n − 1) (α + S / (n B)).

    >>> round(all_reduce_time(50e6, 8, 450e9) * 1e6, 2), all_reduce_time(1e9, 1, 50e9)
    (194.44, 0.0)
    """
    return all_reduce_steps(ranks) * latency + all_reduce_factor(ranks) * size / bandwidth


@formula("2 * size / bandwidth")
def all_reduce_time_of_many(size: float, bandwidth: float) -> float:
    """The limit of many ranks: t → 2 S / B.

    >>> round(all_reduce_time_of_many(8e9, 300e9), 4)
    0.0533
    """
    return 2 * size / bandwidth


@formula("bandwidth * ranks / (2 * (ranks - 1))")
def all_reduce_rate(ranks: float, bandwidth: float) -> float:
    """The best algorithm bandwidth of a ring: B n / (2 (n − 1)).

    >>> round(all_reduce_rate(8, 450e9) / 1e9, 1), round(all_reduce_rate(4, 50e9) / 1e9, 1)
    (257.1, 33.3)
    """
    return bandwidth * ranks / (2 * (ranks - 1))


@formula("steps * (islands - 1) / max(ranks - 1, 1)")
def crossing_steps(steps: float, ranks: float, islands: float) -> float:
    """Steps of a ring over all ranks that wait for a hop between islands.

    Of the n hops of a ring, k leave an island, so that the longest dependency chain of s steps crosses s k / n times;
    with k = 1 the ring stays inside. NCCL counts the same: 2 (k − 1) of 2 (n − 1) steps.

    Source: NVIDIA, NCCL, src/graph/tuning.cc (nInterSteps).

    >>> crossing_steps(30, 16, 2), crossing_steps(14, 8, 1)
    (2.0, 0.0)
    """
    return steps * (islands - 1) / (ranks - 1 + (ranks == 1))
