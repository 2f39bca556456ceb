"""What failures and checkpoints cost a long run. Floats or arrays, times in seconds."""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import power


@formula("sqrt(2 * between * cost)")
def best_interval(between: float, cost: float) -> float:
    """The time between checkpoints that loses least: τ = √(2 M C).

    ``between`` (M) is the mean time between failures, ``cost`` (C) how long training stands still
    for one checkpoint.

    Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.

    >>> best_interval(7200.0, 100.0)
    1200.0
    """
    return power(2 * between * cost, 0.5)


@formula("cost / interval + interval / (2 * between)")
def lost_share(interval: float, between: float, cost: float) -> float:
    """The share of time that goes into saving, and into repeating half an interval a failure: C / τ + τ / (2 M).

    Source: Young, CACM 17(9), 1974.

    >>> round(lost_share(1200.0, 7200.0, 100.0), 4)
    0.1667
    """
    return cost / interval + interval / (2 * between)
