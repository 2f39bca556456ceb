"""The highest concurrency of a serving plan within its targets and its caches."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from clusterspec.cost.serving.flight_times import times_at
from clusterspec.cost.serving.loads import SERVED, steady_load
from clusterspec.cost.serving.plan_engines import cache_capacity, pools_with_load
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import Point, bisected_interval
from clusterspec.cost.serving.steady import state_without_wait, steady_state
from clusterspec.cost.serving.targets import target_excess
from clusterspec.records import replace

ROUNDS = 40
"""Bisection steps for a load."""
MOST = 1e6
"""No more requests in flight are tried."""
CLOSE = 1e-3
"""The bisection ends at this relative width; whole requests are tried from there on."""
CLOSE_RATE = 1e-5
"""The relative width for a request rate: near the capacity, a rate 0.1 % higher keeps some percent more in flight."""


def highest_concurrency(pools: Pools) -> float | None:
    """The most requests in flight on the whole plan at which the caches hold them and all targets are met.

    It follows from the load of the plan: whole requests for a closed loop or a batch; for an open load, the requests
    that the highest rate keeps in flight. Without a target, the limit of the engines. 0 if one request misses a target.
    """
    load = pools.load
    if not load.targets:
        return pools.limit * pools.decode.attention_ranks
    pools = pools._replace(load=replace(load, requests=None))  # any number of requests, not that of the plan
    if load.load == "offline":
        return _sequences_within_targets(pools)
    return _flight_of_highest_rate(pools) if load.load == "open" and load.request_rate else _most_requests(pools)


def _largest_excess(pools: Pools) -> tuple[float, float]:
    """The largest excess of a load over a target or over the caches, as a share of it; and its requests in flight.

    Above the capacity, the excess of an open load is that of its rate, because its latencies never become steady.
    """
    found = times_at(pools, *steady_load(pools))
    if found.queue_grows:
        return (pools.load.request_rate or 0.0) / found.state.rate - 1, found.offered
    return max(found.offered / found.kv_capacity_sequences - 1, target_excess(found, pools.load)), found.offered


def _most_requests(pools: Pools) -> float:
    """The most whole requests in flight of a closed loop or of a batch."""

    def excess(requests: float) -> float:
        return _largest_excess(pools_with_load(pools, replace(pools.load, concurrency=round(requests))))[0]

    held = cache_capacity(pools.decode, pools.load)[1] * pools.decode.attention_ranks
    most = float(max(1, floor(held * (1 + 1e-12))))
    least, above = excess(1.0), excess(most)
    while above <= 0 and pools.load.raised and most < MOST:  # the cache grows with the load
        most *= 2
        above = excess(most)
    if least > 0 or above <= 0:
        return 0.0 if least > 0 else most
    low, high = map(round, bisected_interval(excess, (1.0, least), (most, above), ROUNDS, CLOSE))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return float(low)


def _flight_of_highest_rate(pools: Pools) -> float:
    """The requests in flight at the highest rate of an open load."""

    def excess_at_rate(rate: float) -> tuple[float, float]:
        return _largest_excess(pools_with_load(pools, replace(pools.load, request_rate=rate)))

    def point(rate: float) -> Point:
        return rate, _share_of_excess(excess_at_rate(rate)[0])

    most = state_without_wait(pools, pools.limit).rate
    low, high = point(CLOSE * most), point(SERVED * most)
    if low[1] > 0:
        return 0.0
    while high[1] <= 0 and most < MOST:
        low, high, most = high, point(most), 2 * most
    return excess_at_rate(bisected_interval(lambda rate: point(rate)[1], low, high, ROUNDS, CLOSE_RATE)[0])[1]


def _share_of_excess(excess: float) -> float:
    """An excess as a share of the latency itself if it is positive; for a queue this share is about proportional to the
    rate.

    >>> _share_of_excess(-0.5), _share_of_excess(4.0)
    (-0.5, 0.8)
    """
    return excess / (1 + max(0.0, excess))


def _sequences_within_targets(pools: Pools) -> float:
    """The most sequences of an offline load, whose requests always wait."""
    ranks = pools.decode.attention_ranks

    def excess(sequences: float) -> float:
        now = steady_state(pools, max(1.0, sequences))
        return target_excess(times_at(pools, max(1.0, sequences) * ranks, now), pools.load)

    most = largest_satisfying(excess, pools.limit)
    return steady_state(pools, most).requests_in_flight(ranks) if most else 0.0


def largest_satisfying(excess: Callable[[float], float], limit: float) -> float:
    """The largest number of sequences up to ``limit`` with an ``excess`` of at most 0; 0 if one sequence has more."""
    if (least := excess(1.0)) > 0:
        return 0.0
    most = excess(limit)
    return bisected_interval(excess, (1.0, least), (limit, most), ROUNDS)[0] if most > 0 else limit
