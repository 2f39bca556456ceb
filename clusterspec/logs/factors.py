"""Ratios of bus bandwidth to algorithm bandwidth, and the number of ranks they imply.

Source: nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from math import ceil, floor

MOST_RANKS = 100_000


def bus_factor(collective: str, ranks: int) -> float:
    """The ratio of busbw to algbw of a collective on a number of ranks.

    >>> bus_factor("all-reduce", 8), bus_factor("all-gather", 8), bus_factor("send-recv", 2)
    (1.75, 0.875, 1.0)
    """
    if collective == "all-reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in {"all-gather", "reduce-scatter", "all-to-all"} else 1.0


def ranks_from_ratio(algbw: float, busbw: float, rounding: float) -> int | None:
    """The ranks n of an all-reduce, with busbw / algbw = 2 (n − 1) / n; None if the rounded figures fit several.

    >>> ranks_from_ratio(134.22, 234.89, 0.005)
    8
    """
    if algbw <= 0 or busbw <= 0:
        return None
    ratio = busbw / algbw
    spread = ratio * (rounding / algbw + rounding / busbw)
    if ratio + spread >= 2:
        return None
    low, high = ceil(2 / (2 - ratio + spread)), floor(2 / (2 - ratio - spread))
    return low if low == high and 1 < low <= MOST_RANKS else None
