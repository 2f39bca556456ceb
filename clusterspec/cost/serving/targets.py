"""The targets of a serving plan: predicted latencies at their percentiles, and which are missed."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving, Target
from clusterspec.cost.serving.latency import ServingTimes, exceeds_capacity
from clusterspec.cost.serving.percentiles import MEDIAN, latency_at, latency_range
from clusterspec.records import NamedTuple, dataclass


@dataclass(frozen=True)
class Tail:
    """The latencies that ``percentile`` of 100 requests do not exceed, in seconds, each with its range."""

    percentile: float
    ttft: float
    tpot: float
    ttft_range: tuple[float, float]
    tpot_range: tuple[float, float]


class TargetResult(NamedTuple):
    """A target of a plan at its load, and the predicted latency at its percentile, in seconds.

    ``queue_grows``: requests arrive faster than the engines serve them. The latency is then that of full engines in the
    steady state, without the queue before them.
    """

    target: Target
    seconds: float
    times: ServingTimes
    load: Serving
    queue_grows: bool = False

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the range of the latency, in seconds; for an open load, from the plans at both ends."""
        return latency_range(self.times, self.load, self.target.quantity, self.target.percentile)

    @property
    def surely_met(self) -> bool:
        """Whether the whole range is within the target. The range contains the prediction, which is asked first: it
        takes no plans at the ends of the range.
        """
        return self.seconds <= self.target.seconds and self.range[1] <= self.target.seconds

    @property
    def missed(self) -> bool:
        """Whether the latency is above the target, or includes the wait in a queue that grows without end."""
        return self.seconds > self.target.seconds or self.missed_in_queue

    @property
    def missed_in_queue(self) -> bool:
        """Whether full engines meet the target, and requests miss it in the queue before them."""
        waits = self.queue_grows and self.target.quantity in OF_QUEUE
        return waits and self.seconds <= self.target.seconds


def latency_tail(times: ServingTimes, load: Serving) -> Tail | None:
    """The latencies at the highest percentile of their targets; None at the median, which the plan itself has."""
    at = max([load.percentile, *(each.percentile for each in load.targets if each.quantity in {"ttft", "tpot"})])
    if at <= MEDIAN:
        return None
    first, each = latency_at(times, load, "ttft", at), latency_at(times, load, "tpot", at)
    return Tail(at, first, each, latency_range(times, load, "ttft", at), latency_range(times, load, "tpot", at))


def target_results(times: ServingTimes, load: Serving) -> tuple[TargetResult, ...]:
    """Every target with the predicted latency at its percentile."""
    return tuple(target_result(times, load, each) for each in load.targets)


def target_result(times: ServingTimes, load: Serving, target: Target) -> TargetResult:
    """A target with the predicted latency at its percentile."""
    return TargetResult(
        target,
        latency_at(times, load, target.quantity, target.percentile),
        times,
        load,
        exceeds_capacity(times, load),
    )


def meets_targets(times: ServingTimes, load: Serving) -> bool:
    """Whether a plan meets all targets at its load, and no relevant queue grows without end."""
    return not any(each.missed for each in target_results(times, load))


def missed_targets(times: ServingTimes, load: Serving) -> tuple[Target, ...]:
    """The targets that the plan's latencies exceed at its load. An unbounded queue is reported separately."""
    return tuple(
        each for each in load.targets if latency_at(times, load, each.quantity, each.percentile) > each.seconds
    )


OF_QUEUE = ("ttft", "end_to_end")
"""Latencies that include the wait of a request for a place."""
MOST_WAIT = 0.5
"""The share of the mean time to the first token that requests of an engine with spare capacity wait."""


def mostly_waits(times: ServingTimes) -> bool:
    """Whether requests wait for prefill in most of the mean time to the first token."""
    return times.wait > MOST_WAIT * times.ttft_mean


def keeps_up(times: ServingTimes, load: Serving) -> bool:
    """Whether the engines serve an open load within its targets; without any, whether they have spare capacity."""
    if exceeds_capacity(times, load):
        return False
    waits = times.wait + times.place.of_all  # for prefill, and for a place at times when all are taken
    return not missed_targets(times, load) if load.targets else waits <= MOST_WAIT * times.ttft_mean


def target_excess(times: ServingTimes, load: Serving) -> float:
    """The largest excess of a latency over its target, as a share of it; at most 0 if all targets are met."""
    return max(
        (latency_at(times, load, each.quantity, each.percentile) - each.seconds) / each.seconds for each in load.targets
    )


def is_caused_by_chunks(times: ServingTimes, target: Target) -> bool:
    """Whether a missed target of the gaps between tokens is met by steps without prompts."""
    return target.quantity == "itl" and times.decode.total <= target.seconds
