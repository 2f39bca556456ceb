"""Whether separate engines for prefill and decode are better than one kind of engine, and from which prompt length,
load and link on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, log

from clusterspec.analysis.searches.serving_plans.space import (
    Plan,
    RatedPlan,
    ServingJob,
    design_of_plan,
    ranked_plans,
    rated_plan,
)
from clusterspec.cluster.requests import Lengths, Serving
from clusterspec.cost.serving.handoff import HANDOFF_SHARE
from clusterspec.cost.serving.times import serving_times
from clusterspec.records import NamedTuple, replace

REACH = 64.0
"""The factor by which the search for a break-even extends below and above the present value."""
STEP = 4.0
"""Ratio of the values at which both plans are compared before the bisection."""
HALVINGS = 4
"""Bisections of the interval with the break-even: its value is known to a factor of 1.09."""
LEAST_LINK = 1e8
"""At this bandwidth of an accelerator in B/s or above, links are tried."""
MOST_LINK = 1e13


class BreakEven(NamedTuple):
    """The value of a quantity at which both plans are equally good.

    ``better_above`` says whether separate engines are better above ``value``. ``value`` is None if one plan is better
    at all values from ``low`` to ``high``; ``better_above`` then says whether the plan with separate engines is better
    above that value.
    """

    quantity: str
    present: float
    value: float | None
    better_above: bool
    low: float
    high: float


class Kinds(NamedTuple):
    """The best plan with one kind of engine and the best with separate ones, and whether each meets the targets."""

    together: RatedPlan | None
    apart: RatedPlan | None


def best_of_kinds(plans: Sequence[RatedPlan], objective: str) -> Kinds:
    """The best plan of each kind by an objective among those that meet the targets; if none does, the closest."""

    def best_plan(plans: list[RatedPlan]) -> RatedPlan | None:
        meeting = [each for each in plans if each.meets]
        return (
            ranked_plans(meeting, objective)[0] if meeting else min(plans, key=lambda each: each.excess, default=None)
        )

    together = [each for each in plans if each.plan[0] is None]
    return Kinds(best_plan(together), best_plan([each for each in plans if each.plan[0] is not None]))


def plan_value(job: ServingJob, plan: Plan) -> float:
    """Output tokens per second and accelerator of a plan: at the highest concurrency within the targets (0 if none
    meets them), or, without targets, at the load of the spec.
    """
    if not job.load.targets:
        found = rated_plan(job, plan, inf)
        return found.per_accelerator if found else 0.0
    design = design_of_plan(job, plan, targets=True)
    times = serving_times(design)
    most = int(times.max_concurrency or 0) if times else 0
    found = rated_plan(job, plan, inf, most) if most else None
    return found.per_accelerator if found else 0.0


def value_at_load(job: ServingJob, plan: Plan, flight: float) -> float:
    """Output tokens per second and accelerator with ``flight`` requests in flight per accelerator; 0 if the plan then
    misses a target.
    """
    ranks = sum(engine.replicas * engine.ranks for engine in plan if engine is not None)
    wanted = flight * ranks / job.cluster.ranks_per_accelerator
    requests = max(1, round(wanted))
    found = rated_plan(job, plan, inf, requests)
    return found.per_accelerator * wanted / requests if found and found.meets else 0.0


def break_evens(job: ServingJob, joint: RatedPlan, separate: RatedPlan) -> list[BreakEven]:
    """The points at which both plans are equally good: prompt length, load, and bandwidth of the link between the
    engines.
    """
    found = []
    if job.load.session is None:
        found.append(_break_even_length(job, joint.plan, separate.plan))
    found.append(_break_even_load(job, joint, separate))
    sent = separate.times.sent
    if sent is not None and sent.transfer.size and job.prefill_ranks is None:
        found.append(_break_even_link(job, joint.plan, separate.plan, sent.transfer.bandwidth))
    return found


def _break_even_length(job: ServingJob, joint: Plan, separate: Plan) -> BreakEven:
    longest = job.workload.model.max_sequence_length
    most = float(longest - job.load.output_tokens) if longest else inf

    def is_better(tokens: float) -> bool | None:
        other = replace(job, load=_load_with_prompt_length(job.load, round(tokens)))
        return _is_separation_better(plan_value(other, joint), plan_value(other, separate))

    return nearest_crossing("input_tokens", float(job.load.input_tokens), is_better, 1.0, most)


def _break_even_load(job: ServingJob, joint: RatedPlan, separate: RatedPlan) -> BreakEven:
    """The break-even in requests in flight per accelerator, comparing plans within their targets. Without targets, the
    break-even in total requests in flight.
    """

    def rates_at(requests: float) -> tuple[float, float]:
        first, second = (rated_plan(job, each.plan, inf, max(1, round(requests))) for each in (joint, separate))
        return first.per_accelerator if first else 0.0, second.per_accelerator if second else 0.0

    if not job.load.targets:
        return nearest_crossing(
            "concurrency",
            separate.times.offered,
            lambda each: _is_separation_better(*rates_at(each)),
            1.0,
            inf,
        )

    def is_better(value: float) -> bool | None:
        return _is_separation_better(value_at_load(job, joint.plan, value), value_at_load(job, separate.plan, value))

    present = separate.times.offered / separate.times.accelerators
    least = 1 / min(joint.times.accelerators, separate.times.accelerators)
    return nearest_crossing("requests_per_accelerator", present, is_better, least, inf)


def _break_even_link(job: ServingJob, joint: Plan, separate: Plan, bandwidth: float) -> BreakEven:
    alone = plan_value(job, joint)
    present = bandwidth * job.cluster.ranks_per_accelerator / HANDOFF_SHARE

    def is_better(link: float) -> bool | None:
        load = replace(job.load, transfer=job.load.transfer._replace(bandwidth=link))
        return _is_separation_better(alone, plan_value(replace(job, load=load), separate))

    return nearest_crossing("link_bandwidth", present, is_better, LEAST_LINK, MOST_LINK)


def _is_separation_better(joint: float, separate: float) -> bool | None:
    """Whether separate engines are better; None if neither plan serves anything."""
    return None if joint == separate == 0 else separate > joint


def _load_with_prompt_length(load: Serving, tokens: int) -> Serving:
    """The load with prompts of another mean length."""
    ratio, lengths = tokens / load.input_tokens, load.input_lengths
    if lengths is not None:
        most = round(lengths.most * ratio) if lengths.most else None
        lengths = Lengths(tokens, max(tokens, round(lengths.p99 * ratio)), most)
    return replace(load, input_tokens=tokens, input_lengths=lengths)


def nearest_crossing(
    quantity: str, present: float, better: Callable[[float], bool | None], low: float, high: float
) -> BreakEven:
    """The value nearest to ``present`` at which the result of ``better`` changes, found in steps of `STEP` and then by
    bisection.

    The search stops on a side where ``better`` is None, because neither plan works there.
    """
    here = bool(better(present))
    ends = [present, present]
    for side in (1 / STEP, STEP):
        now = present
        while now * side / present * 1.0000001 > REACH**-1 and now * side / present < REACH * 1.0000001:
            before, now = now, now * side
            if not low <= now <= high:
                break
            there = better(now)
            if there is None:
                break
            ends[side > 1] = now
            if there is not here:
                value = _bisected_crossing(better, before, now, here)
                return BreakEven(quantity, present, value, (now > present) is not here, ends[0], ends[1])
    return BreakEven(quantity, present, None, here, ends[0], ends[1])


def _bisected_crossing(better: Callable[[float], bool | None], one: float, other: float, here: bool) -> float:
    """The value between ``one`` and ``other`` at which the result of ``better`` changes; at ``one`` the result is
    ``here``.
    """
    for _ in range(HALVINGS):
        middle = exp((log(one) + log(other)) / 2)
        one, other = (middle, other) if better(middle) is here else (one, middle)
    return exp((log(one) + log(other)) / 2)
