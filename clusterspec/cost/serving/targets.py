"""Latency of a serving plan at the percentile of its targets, and whether the targets are met."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.queues import burst_wait_at, wait_at
from clusterspec.cost.serving.ranges import tail_factors
from clusterspec.cost.serving.times import ServingTimes
from clusterspec.records import dataclass

MEDIAN = 50.0
HIGHEST = 99.9
"""The percentile up to which the exponential tail of the waits is used."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The latencies that ``percentile`` of 100 requests do not exceed, in seconds, each with its range."""

    percentile: float
    ttft: float
    tpot: float
    ttft_range: tuple[float, float]
    tpot_range: tuple[float, float]


def tail(times: ServingTimes, load: Serving) -> Tail | None:
    """The latencies at the percentile of the targets; None at the median, which the plan itself has."""
    if load.percentile <= MEDIAN:
        return None
    share = min(load.percentile, HIGHEST) / 100
    first, each = ttft_at(times, load), tpot_at(times, load)
    low, high = tail_factors(times, "ttft", share)
    least, most = tail_factors(times, "tpot", share)
    return Tail(load.percentile, first, each, (first * low, first * high), (each * least, each * most))


def ttft_at(times: ServingTimes, load: Serving) -> float:
    """The time to the first token that the percentile of the targets does not exceed; the median up to 50.

    Waits in a steady state have an exponential tail. In a finite run the requests of the burst at its start are the
    slowest: each waits for those before it, so that the place in the burst is the percentile.
    """
    if load.percentile <= MEDIAN:
        return times.ttft
    share = min(load.percentile, HIGHEST) / 100
    return times.ttft + wait_at(times.wait, share) + _burst_at(times, load, share)


def _burst_at(times: ServingTimes, load: Serving, share: float) -> float:
    """The wait in the burst at the start of a run, at a share of its requests; the mean is over all requests."""
    if not load.requests:
        return 0.0
    of_burst = min(1.0, times.offered / load.requests)
    return burst_wait_at(times.ttft_mean - times.ttft, of_burst, share) if of_burst > 0 else 0.0


def tpot_at(times: ServingTimes, load: Serving) -> float:
    """The time of an output token that the percentile of the targets does not exceed.

    All requests of a batch share its steps, so that the percentiles of a request's mean are close together.
    """
    return times.tpot if load.percentile <= MEDIAN else max(times.tpot, times.tpot_mean)


def missed(times: ServingTimes, load: Serving) -> tuple[str, ...]:
    """The targets that a plan does not meet at its load: ``ttft``, ``tpot``, both or none."""
    first = load.ttft_target is not None and ttft_at(times, load) > load.ttft_target
    each = load.tpot_target is not None and tpot_at(times, load) > load.tpot_target
    return tuple(name for name, late in (("ttft", first), ("tpot", each)) if late)
