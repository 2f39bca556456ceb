"""How tokens spread over experts. All functions take floats or arrays."""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import Number


def distinct_ranks(ranks: Number, chosen: Number) -> Number:
    """Expected ranks that hold at least one of a token's experts: r (1 − (1 − 1/r)^k).

    ``chosen`` (k) experts drawn evenly and independently over ``ranks`` (r).

    >>> round(distinct_ranks(8, 8), 3), distinct_ranks(1, 8)
    (5.251, 1.0)
    """
    return ranks * (1 - (1 - 1 / ranks) ** chosen)
