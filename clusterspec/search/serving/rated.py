"""A serving plan with its predicted figures, whether it meets the targets, and its rank by an objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from clusterspec.cost.memory import memory, spare_cache
from clusterspec.cost.serving import ServingTimes, serving
from clusterspec.cost.serving.targets import missed, tpot_at, ttft_at
from clusterspec.records import dataclass
from clusterspec.search.serving.space import Plan, ServingJob, designed

SUSTAINED = 0.98
"""Share of an arrival rate below which a plan does not keep up with it."""


HELD = 1.1
"""Requests in flight over those that the cache holds, which the uncertainty of the capacity explains."""


@dataclass(frozen=True, slots=True)
class Rated:
    """A plan, its times, the bytes on its fullest accelerator, and whether it meets the targets at the load."""

    plan: Plan
    times: ServingTimes
    memory: float
    meets: bool
    excess: float
    """The largest ratio of a time to its target, or of the requests in flight to those that the cache holds; at
    least 1."""
    concurrency: int | None = None
    """Requests in flight, where they are not those of the spec."""
    surely_fits: bool = True
    """Whether it fits at the upper end of its memory range, with the cache of one request."""

    @property
    def per_user(self) -> float:
        """Output tokens per second of one request, after the first token."""
        return 1 / self.times.tpot

    @property
    def per_accelerator(self) -> float:
        return self.times.per_accelerator


def rate(job: ServingJob, plan: Plan, most: float, concurrency: int | None = None) -> Rated | None:
    """The numbers of a plan; None where it has no times, or takes more than ``most`` bytes of an accelerator."""
    design = designed(job, plan, concurrency=concurrency)
    held = memory(design)
    if held is None or held.total > most:
        return None
    times = serving(design)
    if times is None:
        return None
    late = missed(times, job.load)
    meets = not late and _sustained(job, times, concurrency)
    surely = held.capacity is None or held.upper - spare_cache(held) <= held.capacity.value
    return Rated(plan, times, held.total, meets, _excess(job, times), concurrency, surely)


def _sustained(job: ServingJob, times: ServingTimes, concurrency: int | None) -> bool:
    """Whether the cache holds the requests in flight, and throughput equals the request rate where that is stated."""
    if job.load.load != "offline" and times.offered > HELD * times.kv_capacity_sequences:
        return False
    wanted = job.load.request_rate
    if wanted is None or concurrency is not None:
        return True
    return times.output_tokens_per_second >= SUSTAINED * wanted * job.load.output_tokens


def _excess(job: ServingJob, times: ServingTimes) -> float:
    load = job.load
    pairs = ((ttft_at(times, load), load.ttft_target), (tpot_at(times, load), load.tpot_target))
    queued = times.offered / times.kv_capacity_sequences if load.load != "offline" else 0.0
    return max([1.0, queued, *(value / target for value, target in pairs if target)])


Key = Callable[[Rated], tuple[float, ...]]
OBJECTIVES: Mapping[str, Key] = {
    "accelerators": lambda one: (one.times.accelerators, -one.times.output_tokens_per_second),
    "cost": lambda one: (one.times.accelerators / one.times.output_tokens_per_second, one.times.tpot),
    "tokens_per_accelerator": lambda one: (-one.per_accelerator, one.times.tpot),
    "tokens_per_user": lambda one: (one.times.tpot, -one.per_accelerator),
    "memory": lambda one: (one.memory, one.times.tpot),
}
"""What a serving plan may be ranked by; the least is the best. Tokens cost as the accelerators that make them."""
METRICS: Mapping[str, Key] = {
    "ttft": lambda one: (one.times.ttft, one.times.accelerators),
    "tpot": lambda one: (one.times.tpot, one.times.accelerators),
    "request_latency": lambda one: (one.times.request_latency, one.times.accelerators),
    "output_tokens_per_second": lambda one: (-one.times.output_tokens_per_second, one.times.accelerators),
    "output_tokens_per_second_per_accelerator": OBJECTIVES["tokens_per_accelerator"],
    "memory": OBJECTIVES["memory"],
    "headroom": OBJECTIVES["memory"],
    "fits": OBJECTIVES["memory"],
}
"""The order of plans by a metric of a condition, the one that meets it most easily first."""


def ranked(plans: Iterable[Rated], objective: str) -> list[Rated]:
    """The plans in order of an objective or of a metric, the best first."""
    key = OBJECTIVES.get(objective) or METRICS[objective]
    return sorted(plans, key=lambda one: (*key(one), one.memory))


def front(plans: Iterable[Rated]) -> list[Rated]:
    """The Pareto front of plans by output tokens per second per user and per accelerator, fastest user first."""
    kept: list[Rated] = []
    for one in sorted(plans, key=lambda one: (-one.per_user, -one.per_accelerator)):
        if not kept or one.per_accelerator > kept[-1].per_accelerator:
            kept.append(one)
    return kept
