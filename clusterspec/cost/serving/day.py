"""The engines of a serving plan over a day: how many each hour needs, their accelerator-hours, and late starts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Day, Hours
from clusterspec.cluster.serving_load import DAY_MINUTES
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.targets import keeps_up
from clusterspec.cost.serving.times import times_with_engines
from clusterspec.records import NamedTuple, replace
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.pools import Pools

DAY_SECONDS = DAY_MINUTES * 60.0
OVERLOAD = 4.0
"""The first rate offered in the search for the capacity of an hour's engines, as a multiple of the hour's rate."""
SERVED = 0.95
"""If the engines sustain more than this share of an offered rate, a higher rate is tried."""
LARGEST_RATE = 1e7
"""Requests per second at which that search ends."""
SLOWEST = 99.0
"""The percentile of the time to the first token of an hour."""
Replicas = tuple[int, int]
"""Prefill and decode engines; the first is 0 where the same engines do both."""


class HourPlan(NamedTuple):
    """Hours of a day with one load, and the engines that they need.

    ``prefill`` is 0 if the same engines decode. ``accelerators`` counts the accelerators of these engines, ``times``
    are the plan's times with them (None without engines). ``served`` is False if even all engines of the plan miss the
    targets at this load. ``capacity`` is the highest sustainable rate in requests per second, regardless of targets;
    ``slowest`` the 99th-percentile time to first token in seconds (None without engines).
    """

    hours: Hours
    prefill: int
    replicas: int
    accelerators: float
    times: ServingTimes | None
    served: bool
    capacity: float = 0.0
    slowest: float | None = None

    @property
    def utilization(self) -> float | None:
        """The load over the capacity of the engines that run; None without engines or load."""
        return self.hours.rate / self.capacity if self.capacity else None


class LateStart(NamedTuple):
    """Engines that start serving after the load has risen, at a minute of the day.

    The load rises from ``before`` to ``rate`` requests per second; running engines serve ``capacity`` of these. After
    ``late`` seconds ``waiting`` requests wait, the last of them for ``wait`` seconds. The queue is empty ``drained``
    seconds after the rise, None if it never is.
    """

    minute: int
    before: float
    rate: float
    capacity: float
    late: float
    waiting: float
    wait: float
    drained: float | None


class DayPlan(NamedTuple):
    """A day of a serving plan whose engines follow the load.

    ``accelerator_hours`` include engines that start ahead of the load; ``constant_accelerator_hours`` belong to a
    plan whose engines all run at all hours. ``requests`` and ``output_tokens`` are summed over the day.
    """

    hours: tuple[HourPlan, ...]
    accelerator_hours: float
    constant_accelerator_hours: float
    requests: float
    output_tokens: float
    late: tuple[LateStart, ...]


def day_plan(design: Design) -> DayPlan | None:
    """The day of a serving plan; None if the spec states no hours, or the plan has no times."""
    pools = bare_pools(design)
    if pools is None or pools.load.day is None:
        return None
    day = pools.load.day
    needed: dict[float, HourPlan] = {}
    for hours in sorted(day.hours, key=lambda each: each.rate, reverse=True):
        if hours.rate not in needed:
            needed[hours.rate] = _with_capacity(pools, _hour_plan(pools, day, hours))
    plans = tuple(needed[hours.rate]._replace(hours=hours) for hours in day.hours)
    sizes = (pools.prompts.accelerators, pools.decode.accelerators)
    running = sum_of(
        size * _running_hours([(each.hours, count) for each, count in zip(plans, counts, strict=True)], day.ahead)
        for size, counts in zip(
            sizes, ([each.prefill for each in plans], [each.replicas for each in plans]), strict=True
        )
    )
    requests = sum_of((hours.end - hours.start) * 60 * hours.rate for hours in day.hours)
    return DayPlan(
        hours=plans,
        accelerator_hours=running,
        constant_accelerator_hours=24.0 * sum_of(map(float.__mul__, sizes, map(float, _all_engines(pools)))),
        requests=requests,
        output_tokens=requests * pools.load.output_tokens,
        late=_late_starts(pools, day, plans),
    )


def _all_engines(pools: Pools) -> Replicas:
    """The prefill and decode engines of the plan."""
    return (pools.prompts.replicas if pools.has_prefill_engines else 0), pools.decode.replicas


def _hour_plan(pools: Pools, day: Day, hours: Hours) -> HourPlan:
    """The fewest engines that serve the load of an hour: first the decode engines, then the prefill engines."""
    rate, sizes = hours.rate, (pools.prompts.accelerators, pools.decode.accelerators)
    most = _all_engines(pools)
    separate = pools.has_prefill_engines
    least = min(day.min_replicas, most[1]), min(day.min_replicas, most[0])

    def plan(count: Replicas) -> HourPlan:
        used = count[0] * sizes[0] + count[1] * sizes[1]
        if not rate or not count[1]:
            return HourPlan(hours, count[0], count[1], used, None, not rate)
        times = times_with_engines(pools, count, rate)
        return HourPlan(hours, count[0], count[1], used, times, keeps_up(times, replace(pools.load, request_rate=rate)))

    if not rate:
        return plan((least[1] if separate else 0, least[0]))
    whole = plan(most)
    if not whole.served:
        return whole
    found = _fewest_engines_plan(lambda number: plan((most[0], number)), max(1, least[0]), most[1], whole)
    if not separate:
        return found
    return _fewest_engines_plan(lambda number: plan((number, found.replicas)), max(1, least[1]), most[0], found)


def _with_capacity(pools: Pools, plan: HourPlan) -> HourPlan:
    """The plan of an hour with the rate that its engines sustain, and the time to the first token of the slowest."""
    if plan.times is None:
        return plan
    load, most = replace(pools.load, request_rate=plan.hours.rate), OVERLOAD * plan.hours.rate
    capacity = _served_rate(pools, (plan.prefill, plan.replicas), most)
    while capacity > most * SERVED and most < LARGEST_RATE:
        most *= OVERLOAD
        capacity = _served_rate(pools, (plan.prefill, plan.replicas), most)
    return plan._replace(capacity=capacity, slowest=latency_at(plan.times, load, "ttft", SLOWEST))


def _fewest_engines_plan(plan: Callable[[int], HourPlan], least: int, most: int, whole: HourPlan) -> HourPlan:
    """The plan with the fewest engines that serve a load, by bisection; ``most`` engines, in ``whole``, do serve it."""
    low, high, found = least - 1, most, whole
    while high - low > 1:
        middle = (low + high) // 2
        tried = plan(middle)
        low, high, found = (low, middle, tried) if tried.served else (middle, high, found)
    return found


def _running_hours(counts: list[tuple[Hours, int]], ahead: float) -> float:
    """Engine-hours of a day, where each engine starts ``ahead`` seconds before it is needed.

    The number running at any time is the maximum needed within the next ``ahead`` seconds. An engine therefore keeps
    running if it would otherwise have to restart before it had stopped.
    """
    early = min(ahead, DAY_SECONDS) / 60
    edges = {0.0, float(DAY_MINUTES)}
    for hours, _ in counts:
        edges |= {float(hours.start), (hours.start - early) % DAY_MINUTES, (hours.end - early) % DAY_MINUTES}
    ordered = sorted(edges)
    total = 0.0
    for start, end in pairwise(ordered):
        total += (end - start) / 60 * _most_needed(counts, (start + end) / 2, early)
    return total


def _most_needed(counts: list[tuple[Hours, int]], minute: float, early: float) -> int:
    """The maximum number of engines needed from a minute of the day to ``early`` minutes later."""
    return max(
        count
        for hours, count in counts
        for day in (0, DAY_MINUTES)
        if hours.start + day <= minute + early and hours.end + day > minute
    )


def _late_starts(pools: Pools, day: Day, plans: tuple[HourPlan, ...]) -> tuple[LateStart, ...]:
    """The rises of the load that engines answer too late, in the order of the day."""
    late = day.cold_start - day.ahead
    if late <= 0:
        return ()
    found = []
    for before, now in zip((plans[-1], *plans[:-1]), plans, strict=True):
        if now.prefill <= before.prefill and now.replicas <= before.replicas:
            continue
        started = _late_start(pools, (before, now), min(late, (now.hours.end - now.hours.start) * 60.0))
        if started.waiting > 0:
            found.append(started)
    return tuple(found)


def _late_start(pools: Pools, sides: tuple[HourPlan, HourPlan], late: float) -> LateStart:
    before, now = sides
    rate = now.hours.rate
    capacity = _served_rate(pools, (before.prefill, before.replicas), rate)
    waiting = max(0.0, rate - capacity) * late
    drained = late + waiting / (now.capacity - rate) if now.capacity > rate else None
    wait = waiting / now.capacity if now.capacity else 0.0
    return LateStart(now.hours.start, before.hours.rate, rate, capacity, late, waiting, wait, drained)


def _served_rate(pools: Pools, engines: Replicas, rate: float) -> float:
    """Requests per second that engines complete when they arrive at a rate: at most the rate itself."""
    if not engines[1]:
        return 0.0
    times = times_with_engines(pools, engines, rate)
    return min(rate, times.output_tokens_per_second / pools.load.output_tokens)
