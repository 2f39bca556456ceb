"""What communication costs when computation runs beside it. Floats or arrays, seconds."""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import Number, positive, smaller


def exposed(communication: Number, room: Number, interference: Number = 0.0) -> Number:
    """Seconds that communication adds beside ``room`` seconds of computation.

    e = max(0, c − r) + i min(c, r): what does not fit is seen in full, and what is hidden slows
    the computation it hides under by the share ``interference`` (i) of the device that the
    communication's own kernels and memory traffic take.

    >>> exposed(3.0, 2.0), exposed(1.0, 2.0, 0.1)
    (1.0, 0.1)
    """
    return positive(communication - room) + interference * smaller(communication, room)


def straggling(ranks_apart: Number, jitter: Number) -> Number:
    """The factor by which a synchronous step waits for its slowest node: 1 + σ √(2 ln n).

    The expected largest of n independent, normally spread times lies about σ √(2 ln n) above
    their mean; ``jitter`` (σ) is the spread of one node's step relative to its mean.

    Source: Embrechts, Klüppelberg, Mikosch, "Modelling extremal events", 1997, section 3.3 (the
    maximum of normal samples).

    >>> straggling(1, 0.01)
    1.0
    """
    return 1 + jitter * _root_log(ranks_apart)


def _root_log(count: Number) -> Number:
    """√(2 ln n), by the limit n·(x^(1/n) − 1) so that arrays need no library: ln x ≈ N (x^(1/N) − 1)."""
    steps = 1 << 20
    return (2 * steps * (count ** (1 / steps) - 1)) ** 0.5
