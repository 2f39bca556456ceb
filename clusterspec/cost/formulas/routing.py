"""Distribution of tokens over experts. All functions take floats or arrays."""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import power
from clusterspec.cost.formulas.overlap import expected_largest


@formula()
def distinct_ranks(ranks: float, chosen: float) -> float:
    """Expected ranks that hold at least one of a token's experts: r (1 − (1 − 1/r)^k).

    ``chosen`` (k) experts drawn evenly and independently over ``ranks`` (r).

    >>> round(distinct_ranks(8, 8), 3), distinct_ranks(1, 8)
    (5.251, 1.0)
    """
    return ranks * (1 - power(1 - 1 / ranks, chosen))


@formula()
def fullest(ranks: float, experts: float, spread: float) -> float:
    """Load of the fullest rank over the mean: 1 + σ √(2 ln r) / √e.

    Each of r ranks holds e experts whose loads vary independently about their mean by the share
    ``spread`` (σ); the sum of e of them varies by σ / √e, and the largest of r such sums is
    waited for.

    >>> fullest(1, 8, 0.2)
    1.0
    >>> round(fullest(8, 1, 0.1), 3), round(fullest(8, 4, 0.1), 3)
    (1.204, 1.102)
    """
    return 1 + spread * expected_largest(ranks) / power(experts, 0.5)
