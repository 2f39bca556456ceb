"""The rate of requests that a simulated plan sustains, with the prefix hits that its caches have at that rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from clusterspec.analysis.simulation.arrivals import with_partial_outputs
from clusterspec.analysis.simulation.conversations import traffic_of_conversations, traffic_with_hits
from clusterspec.analysis.simulation.plans import Progress, Simulation, Timing, no_progress
from clusterspec.analysis.simulation.traffic import Traffic
from clusterspec.cluster.model import Design
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import bisected_interval
from clusterspec.cost.serving.times import times_with_engines
from clusterspec.logs.traces import Arrival
from clusterspec.records import replace

PROBED, MOST_PROBED = 2_000, 40_000
"""The usual and the maximum number of requests offered at once to find the rate that a plan sustains."""
FILLINGS = 6.0
"""The ratio of these requests to the number that fits in the plan's caches."""
ROUNDS, CLOSE = 5, 0.03
"""The maximum number of conversation rates to try, and the relative width of the final interval."""


def highest_rate(
    design: Design, timing: Timing, traffic: Traffic, seed: int, progress: Progress = no_progress
) -> float | None:
    """The highest rate in requests per second that a plan sustains for independent requests; None if too few requests
    are simulated.

    With more conversations per second, each has a smaller part of the caches, so hits fall with the rate. The plan
    sustains the highest rate at which it completes as many requests as arrive, with the hits of that rate.
    """
    pools = bare_pools(design)
    if pools is None:
        return None
    places = pools.limit * pools.decode.attention_ranks
    here = sustained_rate(timing, traffic.arrivals[traffic.partial :], places, progress)
    if pools.load.session is None or traffic.traced or not here:
        return here
    open_ = pools._replace(load=replace(pools.load, load="open", concurrency=None, requests=None))

    def missing(rate: float) -> float:
        requests = traffic._replace(arrivals=traffic.arrivals[: _probed_requests(places)])
        return rate - (sustained_rate(timing, _arrivals_at(open_, requests, rate, seed), places, progress) or 0.0)

    offered = pools.load.request_rate or here
    low, high = min(offered, here), max(offered, here)
    ends = {rate: missing(rate) if rate != offered else offered - here for rate in (low, high)}
    if ends[high] <= CLOSE * high:
        return high - max(0.0, ends[high])
    if ends[low] > 0:
        return low - ends[low]
    return bisected_interval(missing, (low, ends[low]), (high, ends[high]), ROUNDS, CLOSE)[0]


def _arrivals_at(pools: Pools, traffic: Traffic, rate: float, seed: int) -> list[Arrival]:
    """The turns of conversations at ``rate``, as many as ``traffic`` has requests, with the cache hits at that rate."""
    expected = times_with_engines(pools, (pools.prompts.replicas, pools.decode.replicas), rate)
    at_rate = pools._replace(load=replace(pools.load, request_rate=rate))
    return traffic_with_hits(traffic_of_conversations(traffic, at_rate, expected, seed), pools, expected)[0].arrivals


def _probed_requests(places: float) -> int:
    return min(MOST_PROBED, max(PROBED, ceil(FILLINGS * places)))


def _offered_requests(timing: Timing, arrivals: Sequence[Arrival], places: float) -> list[Arrival]:
    """Requests that come at once; as many as there are places start amid their outputs where the same engines run
    prompts.
    """
    count = _probed_requests(places)
    some = [arrivals[place % len(arrivals)]._replace(time=0.0) for place in range(count)]
    return with_partial_outputs(some, max(1, min(int(places), count)), 0) if timing.prefill is None else some


def sustained_rate(
    timing: Timing, arrivals: Sequence[Arrival], places: float, progress: Progress = no_progress
) -> float | None:
    """Requests per second that a plan with ``places`` completes while others always wait; None for few requests.

    The first and the last fifth of them do not count: the plan fills and empties. Requests that start amid their
    answers fill it sooner; on separate engines all start with their prompts, as others need no prefill engine.
    """
    run = Simulation(timing, _offered_requests(timing, arrivals, places), progress=progress)
    run.run()
    ends = sorted(each.ended for each in run.requests)
    first, last = len(ends) // 5, len(ends) * 4 // 5
    return (last - first) / (ends[last] - ends[first]) if ends[last] > ends[first] else None
