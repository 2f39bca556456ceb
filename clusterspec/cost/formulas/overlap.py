"""Exposed time of communication that overlaps with computation. Floats or arrays, seconds."""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import larger, positive, power, smaller


@formula("max(0, communication - overlap_window) + interference * min(communication, overlap_window)")
def exposed(communication: float, overlap_window: float, interference: float = 0.0) -> float:
    """Seconds that communication adds beside ``overlap_window`` seconds of computation.

    e = max(0, c − w) + i min(c, w): communication beyond the window is exposed. Communication within it slows the
    computation by the share ``interference`` (i) of the device that its kernels and memory traffic take.

    >>> exposed(3.0, 2.0), exposed(1.0, 2.0, 0.1)
    (1.0, 0.1)
    """
    return positive(communication - overlap_window) + interference * smaller(communication, overlap_window)


@formula(
    "max(bucket * communication, max(0, communication - overlap_window)"
    " + interference * min(communication, overlap_window))"
)
def exposed_at_least(communication: float, overlap_window: float, interference: float, bucket: float) -> float:
    """The exposed time of communication of which at least the share ``bucket`` cannot overlap: max(b c, e).

    Frameworks send gradients in buckets as the backward pass fills them; the last one starts when there is no
    computation left (Li et al., "PyTorch distributed", VLDB 2020, arXiv 2006.15704, section 3.2.3).

    >>> exposed_at_least(4.0, 2.0, 0.0, 0.25), exposed_at_least(4.0, 8.0, 0.0, 0.25)
    (2.0, 1.0)
    """
    return larger(bucket * communication, exposed(communication, overlap_window, interference))


@formula(
    "max(0, calls * seconds * (1 - pipelined) - calls * overlap_window)"
    " + interference * min(calls * seconds * (1 - pipelined), calls * overlap_window)"
    " + interference * calls * seconds * pipelined"
)
def exposed_calls(
    calls: float, seconds: float, overlap_window: float, interference: float = 0.0, pipelined: float = 0.0
) -> float:
    """The exposed time of several calls, of which the share ``pipelined`` runs inside the GEMMs around them.

    ``overlap_window`` is that of each call. Traffic inside products slows them by the share ``interference``.

    >>> exposed_calls(2, 3.0, 2.0), exposed_calls(2, 3.0, 0.0, 0.1, 0.5)
    (2.0, 3.3)
    """
    inside = pipelined * (calls * seconds)
    return exposed(calls * seconds - inside, calls * overlap_window, interference) + interference * inside


@formula("jitter * longest * rest")
def waiting(jitter: float, longest: float, rest: float) -> float:
    """Seconds that a synchronous step waits for its slowest node: t = σ ln n r.

    ``longest`` is `expected_longest` of the nodes, ``jitter`` (σ) the mean delay of one node relative to its step,
    ``rest`` (r) the seconds of the step without this. Rare interruptions (garbage collection, retransmissions, clocks,
    other jobs on the fabric) give a node a delay that is exponential rather than normal.

    Source: Rényi, "On the theory of order statistics", Acta Mathematica Hungarica 4, 1953 (the maximum of exponential
    samples).

    >>> waiting(0.01, 3.0, 2.0)
    0.06
    """
    return jitter * longest * rest


@formula()
def expected_longest(count: float) -> float:
    """The excess of the longest of n exponential delays over the mean of one, in units of that mean: ln n.

    Source: Rényi, "On the theory of order statistics", Acta Mathematica Hungarica 4, 1953.

    >>> expected_longest(1), round(expected_longest(100), 3)
    (0.0, 4.605)
    """
    return _STEPS * (power(count, 1 / _STEPS) - 1)


@formula()
def expected_largest(count: float) -> float:
    """How many standard deviations the largest of n normal samples lies above their mean: √(2 ln n).

    Source: Embrechts, Klüppelberg, Mikosch, "Modelling extremal events", 1997, section 3.3.

    >>> expected_largest(1), round(expected_largest(100), 3)
    (0.0, 3.035)
    """
    return power(2 * expected_longest(count), 0.5)


_STEPS = 1 << 20
"""ln n is computed as N (n^(1/N) − 1), exact to six digits, so that arrays need no library."""
