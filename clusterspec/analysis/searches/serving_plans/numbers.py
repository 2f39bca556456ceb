"""Numbers of prefill and decode engines between those that a search tries first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clusterspec.analysis.searches.serving_plans.space import Plan, RatedPlan, ServingJob, ranking_key
from clusterspec.records import replace

REFINED = 8
"""Pairs of engine kinds whose numbers are refined."""
PART = 4
"""The first change of a number of engines, as a fraction of the number: one in four."""
MOVES = ((0, -1), (-1, 0), (-1, -1), (1, -1), (-1, 1), (0, 1), (1, 0), (1, 1))
"""Directions in which the numbers of prefill and of decode engines change: first to fewer engines."""


def refined_plans(
    job: ServingJob, plans: Sequence[RatedPlan], rated_plan_of: Callable[[Plan], RatedPlan | None], objective: str
) -> Iterator[RatedPlan]:
    """Plans with other numbers of the engines of the best ``plans``, each better than the plan before by the objective.

    Both numbers move by a quarter, then by half of that, down to one engine, as long as a move improves the plan.
    ``plans`` have separate prefill and decode engines; one plan is refined of each pair of kinds.
    """
    key = ranking_key(objective)
    best: dict[Plan, RatedPlan] = {}
    for one in sorted(plans, key=key):
        best.setdefault(_single_engines(one.plan), one)
    for start in list(best.values())[:REFINED]:
        yield from _improved_plans(job, start, rated_plan_of, key)


def _single_engines(plan: Plan) -> Plan:
    prefill, decode = plan
    return prefill and replace(prefill, replicas=1), replace(decode, replicas=1)


def _improved_plans(
    job: ServingJob,
    start: RatedPlan,
    rated_plan_of: Callable[[Plan], RatedPlan | None],
    key: Callable[[RatedPlan], tuple[float, ...]],
) -> Iterator[RatedPlan]:
    prefill, decode = start.plan
    assert prefill is not None
    tried, now = {start.plan}, start
    steps = [max(1, count // PART) for count in (prefill.replicas, decode.replicas)]
    while True:
        for plan in _plans_one_move_away(job, now.plan, steps):
            one = rated_plan_of(plan) if plan not in tried else None
            tried.add(plan)
            if one is not None and key(one) < key(now):
                now = one
                yield now
                break
        else:
            if max(steps) == 1:
                return
            steps = [max(1, step // 2) for step in steps]


def _plans_one_move_away(job: ServingJob, plan: Plan, steps: Sequence[int]) -> Iterator[Plan]:
    """The plans with one step more or fewer of each kind of engine, as far as the machine has enough ranks."""
    prefill, decode = plan
    assert prefill is not None
    for first, second in MOVES:
        counts = prefill.replicas + first * steps[0], decode.replicas + second * steps[1]
        ranks = counts[0] * prefill.ranks, counts[1] * decode.ranks
        if min(counts) >= 1 and job.has_ranks_for(*ranks):
            yield replace(prefill, replicas=counts[0]), replace(decode, replicas=counts[1])
