"""Results of simulated requests: percentiles, shares within targets, and the queue over time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import ceil

from clusterspec.analysis.simulation.plans import Timing
from clusterspec.analysis.simulation.ranks import Request
from clusterspec.cluster.requests import Serving
from clusterspec.results.simulation import Percentiles, QueuePoint, SimulatedTarget
from clusterspec.standard import sum_of

POINTS = 50
"""Points of the queue over time."""
MOVES = ("handed", "placed")
"""The times at which a separate decode engine gets a request, and has a place for it."""
SHARES = (0.5, 0.9, 0.99)
"""The percentiles that are always printed."""


def first_token_seconds(request: Request) -> float:
    """The time to the first token of a request."""
    return request.first - request.arrival


def percentiles(values: Iterable[float]) -> Percentiles:
    """Percentiles of values by nearest rank: each result is one of the values."""
    found = sorted(values)
    return Percentiles(*(_nearest_rank(found, share) for share in SHARES))


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def _mean_gap(request: Request) -> float:
    return (request.ended - request.first) / (request.output - 1)


def token_percentiles(requests: Sequence[Request]) -> Percentiles | None:
    found = [_mean_gap(each) for each in requests if each.output > 1]
    return percentiles(found) if found else None


def gap_percentiles(gaps: dict[float, float]) -> Percentiles | None:
    """The percentiles of single gaps, each counted as often as it occurs."""
    if not gaps:
        return None
    return Percentiles(*_gaps_at(gaps, SHARES))


def _gaps_at(gaps: dict[float, float], shares: Iterable[float]) -> list[float]:
    """The quantiles of gaps at the given shares."""
    found, total, sums = sorted(gaps), 0.0, []
    for gap in found:
        total += gaps[gap]
        sums.append(total)
    return [found[min(len(found) - 1, bisect_right(sums, share * total))] for share in shares]


def simulated_targets(
    requests: Sequence[Request], gaps: dict[float, float], load: Serving
) -> Iterable[SimulatedTarget]:
    """The targets of a load, each with the simulated latency at its percentile."""
    values = {
        "ttft": lambda: [first_token_seconds(each) for each in requests],
        "tpot": lambda: [_mean_gap(each) for each in requests if each.output > 1],
        "end_to_end": lambda: [each.ended - each.arrival for each in requests],
    }
    for quantity, percentile, seconds, _ in load.targets:
        share = percentile / 100
        if quantity == "itl":
            value = _gaps_at(gaps, (share,))[0] if gaps else None
        else:
            found = sorted(values[quantity]())
            value = _nearest_rank(found, share) if found else None
        yield SimulatedTarget(quantity, percentile, seconds, value)


def waiting_share(requests: Sequence[Request], timing: Timing) -> float:
    """The fraction of the total time to first token in which requests wait: for their prompt to be computed and, if a
    separate decode engine sends the first token, for a place in it.
    """
    late = timing.prefill is not None and not timing.decode[1].early
    waited = sum_of(_waiting_seconds(each, timing.request, late) for each in requests)
    whole = sum_of(first_token_seconds(each) for each in requests)
    return waited / whole if whole else 0.0


def _waiting_seconds(request: Request, outside: float, late: bool) -> float:
    """Seconds that a request waits before its first token. With ``late``, a separate decode engine sends that token, so
    the wait for a place there counts too.
    """
    # differences of clocks: a request that is admitted as it arrives has waited for rounding errors only
    waited = max(0.0, round(_prefill_start(request) - request.arrival - outside - request.loading, 9))
    return waited + max(0.0, round(request.placed - request.handed, 9)) if late else waited


def _prefill_start(request: Request) -> float:
    """The time at which the first part of a prompt starts, in an engine that has admitted the request."""
    return max(request.admitted, request.began)


def share_within_targets(requests: Sequence[Request], load: Serving) -> float | None:
    """The share of requests within the strictest target of each latency; None without targets.

    Gap targets do not count, because gaps are pooled over all requests.
    """
    first, each, whole = (load.tightest_target(name) for name in ("ttft", "tpot", "end_to_end"))
    if first is None and each is None and whole is None:
        return None
    good = sum(
        (first is None or first_token_seconds(one) <= first.seconds)
        and (each is None or one.output <= 1 or _mean_gap(one) <= each.seconds)
        and (whole is None or one.ended - one.arrival <= whole.seconds)
        for one in requests
    )
    return good / len(requests)


def queue_over_time(requests: Sequence[Request], end: float) -> tuple[QueuePoint, ...]:
    """The requests that wait and run at equal distances from the first arrival to the last end."""
    times = [end * (place / POINTS) for place in range(POINTS + 1)]  # the last one is the end itself, without rounding
    came, left = sorted(each.arrival for each in requests), sorted(each.ended for each in requests)
    found = zip(times, waiting_at(requests, times), strict=True)
    return tuple(
        QueuePoint(now, waiting, bisect_right(came, now) - bisect_right(left, now) - waiting) for now, waiting in found
    )


def waiting_at(requests: Sequence[Request], times: Iterable[float]) -> list[int]:
    """The requests that wait at some times: for their prompt to be computed, or for a place in a separate decode
    engine.
    """
    came, began = sorted(each.arrival for each in requests), sorted(map(_prefill_start, requests))
    handed, placed = (sorted(getattr(each, name) for each in requests if each.placed >= 0) for name in MOVES)
    pairs = ((came, began), (handed, placed))
    return [sum(bisect_right(one, now) - bisect_right(other, now) for one, other in pairs) for now in times]
