"""What communication costs when computation runs beside it. Floats or arrays, seconds."""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import positive, power, smaller


@formula("max(0, communication - overlap_window) + interference * min(communication, overlap_window)")
def exposed(communication: float, overlap_window: float, interference: float = 0.0) -> float:
    """Seconds that communication adds beside ``overlap_window`` seconds of computation.

    e = max(0, c − w) + i min(c, w): what does not fit is exposed in full, and what is hidden slows
    the computation it hides under by the share ``interference`` (i) of the device that the
    communication's own kernels and memory traffic take.

    >>> exposed(3.0, 2.0), exposed(1.0, 2.0, 0.1)
    (1.0, 0.1)
    """
    return positive(communication - overlap_window) + interference * smaller(communication, overlap_window)


@formula()
def straggling(ranks_apart: float, jitter: float) -> float:
    """The factor by which a synchronous step waits for its slowest node: 1 + σ √(2 ln n).

    The expected largest of n independent, normally spread times lies about σ √(2 ln n) above
    their mean; ``jitter`` (σ) is the spread of one node's step relative to its mean.

    Source: Embrechts, Klüppelberg, Mikosch, "Modelling extremal events", 1997, section 3.3 (the
    maximum of normal samples).

    >>> straggling(1, 0.01)
    1.0
    """
    return 1 + jitter * expected_largest(ranks_apart)


@formula()
def expected_largest(count: float) -> float:
    """How many standard deviations the largest of n normal samples lies above their mean: √(2 ln n).

    Source: Embrechts, Klüppelberg, Mikosch, "Modelling extremal events", 1997, section 3.3.

    >>> expected_largest(1), round(expected_largest(100), 3)
    (0.0, 3.035)
    """
    return power(2 * _STEPS * (power(count, 1 / _STEPS) - 1), 0.5)


_STEPS = 1 << 20
"""ln n is taken as N (n^(1/N) − 1), right to six digits, so that arrays need no library."""
