"""One search of serving plans: the best that meet the targets at the load, and the front over concurrency."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.analysis.searches.serving_plans.numbers import refined_plans
from clusterspec.analysis.searches.serving_plans.pairs import (
    has_degrees,
    pinned_degrees,
    prefill_engines_away,
    separated_plans,
)
from clusterspec.analysis.searches.serving_plans.separation import Kinds, best_of_kinds
from clusterspec.analysis.searches.serving_plans.space import (
    RatedPlan,
    ServingJob,
    distinct_plans,
    engines,
    own_plan,
    pareto_front,
    ranked_plans,
    rated_plan,
    replicated_plans,
)
from clusterspec.analysis.searches.studied import Pins
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.requests import Engines
from clusterspec.records import dataclass, replace

SPARE = 4
"""Number of plans kept for each plan shown, since a rule may refuse some."""
LEAST = 10
"""Minimum number of plans for which spares are kept, so that the selection does not depend on the number shown."""
MOST_IN_FLIGHT = 1024
"""Maximum number of requests in flight per attention rank in plans of the front."""
FRONT_POOLS = 4
"""Plans with separate engines whose concurrency is varied for the front."""
LADDER = 4
"""Ratio of successive numbers of requests in flight, before the front is refined."""
LONG_WAIT = 0.25
"""The front ends where requests wait for a place longer than this fraction of the time for an answer."""
Progress = Callable[[int, int], object]
"""Called with the plans done and all of them; a true result ends the search with the plans found so far."""


@dataclass(frozen=True)
class FoundPlans:
    """The results of one search: ``best`` meet the targets; if none does, ``nearest`` misses them least.

    ``may_fit`` of the ``meeting`` plans fit as predicted, but not at the upper end of their memory range; ``unsure`` is
    true if that applies to all of them.
    """

    evaluated: int
    meeting: int
    best: tuple[RatedPlan, ...]
    front: tuple[RatedPlan, ...]
    nearest: RatedPlan | None
    may_fit: int = 0
    unsure: bool = False
    kinds: Kinds = Kinds(None, None)


class _Search:
    def __init__(self, job: ServingJob, most: float, progress: Progress) -> None:
        self.job, self.most, self._progress = job, most, progress
        self.evaluated = 0
        self.total = 1
        self.ended = False

    def rated_plan(self, plan: tuple[Engines | None, Engines], concurrency: int | None = None) -> RatedPlan | None:
        if self.ended:
            return None
        found = rated_plan(self.job, plan, self.most, concurrency)
        self.evaluated += found is not None
        self.ended = bool(self._progress(self.evaluated, max(self.total, self.evaluated)))
        return found


def search(
    job: ServingJob,
    pins: Pins,
    most: float,
    *,
    objective: str,
    top: int,
    progress: Progress = lambda done, total: None,
    with_front: bool = True,
    surely: bool = False,
) -> FoundPlans:
    """Evaluates plans of one kind of engine and of separate engines; a plan may use at most ``most`` bytes of an
    accelerator. ``with_front`` also looks for the Pareto front over concurrency. With ``surely`` the best plans fit at
    the upper end of their memory range, if any does.

    `Pins` may fix the degrees of an engine; ``pools`` of aggregated or disaggregated fixes the kind of plan. For
    disaggregated plans, fixed degrees apply to prefill and decode engines.
    """
    seeker = _Search(job, most, progress)
    kinds = list(engines(job, pinned_degrees(pins)))
    seeker.total = max(1, sum(8 + min(16, job.ranks // engine.ranks) for engine in kinds))
    found: list[RatedPlan] = list(_plans_of_spec(seeker, pins))
    shown: list[RatedPlan] = []
    ladders = _plans_by_engines(seeker, kinds, pins)
    if pins.values.get("pools") != "disaggregated":
        for engine in ladders:
            found += _plans_of_one_kind(seeker, engine)
            shown += ladders[engine]
    if _may_separate(job, pins):
        away = list(prefill_engines_away(job, most, pins)) if job.prefill_ranks is not None else []
        pools = list(separated_plans(job, ladders, seeker.rated_plan, away, pins))
        pools += refined_plans(job, pools, seeker.rated_plan, objective)
        found += pools
        for one in ranked_plans(pools, "tokens_per_accelerator")[: FRONT_POOLS if with_front else 0]:
            shown += _plans_by_concurrency(seeker, one.plan)
    front_of = shown if with_front else None
    return _best_plans(seeker, found, front_of, objective=objective, most=max(top, LEAST) * SPARE, surely=surely)


def _best_plans(
    seeker: _Search, rated: list[RatedPlan], shown: list[RatedPlan] | None, *, objective: str, most: int, surely: bool
) -> FoundPlans:
    """The result of a search: At most ``most`` of the best ``rated`` plans, and the front of the ``shown`` plans, if
    there are any.
    """
    found = list({one.plan: one for one in rated}.values())
    meeting = [one for one in found if one.meets]
    missing = [one for one in found if not one.meets]
    nearest = min(missing, key=lambda one: (one.excess, one.times.accelerators), default=None)
    certain = [one for one in meeting if one.surely_fits]
    kept = certain if surely and certain else meeting
    ends = [one for one in shown or () if one.surely_fits] or shown if surely else shown
    return FoundPlans(
        seeker.evaluated,
        len(meeting),
        tuple(ranked_plans(kept, objective)[:most]),
        tuple(_refined_front(seeker, pareto_front(ends))) if ends is not None else (),
        None if meeting else nearest,
        len(meeting) - len(certain),
        surely and bool(meeting) and not certain,
        best_of_kinds(certain + missing if surely and certain else found, objective),
    )


def _may_separate(job: ServingJob, pins: Pins) -> bool:
    """Whether the search includes separate prefill and decode engines."""
    return not one_kind_reason(job, pins)


def one_kind_reason(job: ServingJob, pins: Pins) -> str:
    """Why a search has no plans with separate prefill and decode engines; empty if it has.

    Other fixed degrees belong to plans with one kind of engine. Separate engines that are asked for are tried at any
    load.
    """
    fixed = pins.values.get("pools")
    if fixed == "aggregated" or (fixed is None and pins.values):
        keys = ", ".join(sorted(pinned_degrees(pins).values)) or "pools"
        return f"`{keys}` is fixed, which leaves one kind of engine"
    if job.ranks < 2 and job.prefill_ranks is None:
        return "there is one rank"
    if fixed is None and job.load.load not in {"closed", "open"}:
        return f"a load that is `{job.load.load}` has no prompts that arrive while others decode"
    return ""


def _plans_of_spec(seeker: _Search, pins: Pins) -> Iterator[RatedPlan]:
    """The plan of the spec, unless it contradicts a fixed choice, cannot run, or needs more ranks than there are."""
    job = seeker.job
    prefill, decode = own_plan(job)
    kind = "aggregated" if prefill is None else "disaggregated"
    if pins.values.get("pools", kind) != kind or not all(has_degrees(each, pins) for each in (prefill, decode) if each):
        return
    left = job.ranks_left_for_decode(prefill.replicas * prefill.ranks if prefill else 0)
    if layout_error_rules(job.design) or decode.replicas * decode.ranks > left:
        return
    one = seeker.rated_plan((prefill, decode))
    if one is not None:
        yield one


def _plans_of_one_kind(seeker: _Search, engine: Engines) -> Iterator[RatedPlan]:
    """The plans of one kind of engine by the number of engines."""
    for plan in replicated_plans(seeker.job, engine):
        one = seeker.rated_plan(plan)
        if one is not None:
            yield one


def _plans_by_engines(seeker: _Search, kinds: list[Engines], pins: Pins) -> dict[Engines, list[RatedPlan]]:
    """Each engine layout that fits, with increasing numbers of requests in flight.

    Pipeline stages are used only for models that do not fit otherwise, and for accelerators without scale-up
    interconnect.
    """
    staged = "pp" in pins or seeker.job.cluster.scale_up.topology == "pcie"
    found: dict[Engines, list[RatedPlan]] = {}
    for engine in sorted(kinds, key=lambda each: each.pp):
        if engine.pp > 1 and not staged and replace(engine, pp=1) in found:
            continue
        ladder = list(_plans_of_layout(seeker, engine))
        if ladder:
            found[engine] = ladder
    return found


def _refined_front(seeker: _Search, rough: list[RatedPlan]) -> list[RatedPlan]:
    """The front extended by plans with half and twice the requests in flight of each of its points."""
    tried = {(one.plan, one.concurrency) for one in rough}
    more: list[RatedPlan] = []
    for one in rough:
        for requests in ((one.concurrency or 0) // 2, 2 * (one.concurrency or 0)):
            if (one.plan, requests) in tried or requests < one.plan[1].replicas * one.plan[1].attention_dp:
                continue
            tried.add((one.plan, requests))
            found = seeker.rated_plan(one.plan, requests)
            if found is not None and not _is_saturated(found):
                more.append(found)
    return distinct_plans(pareto_front([*rough, *more]))


def _plans_of_layout(seeker: _Search, engine: Engines) -> Iterator[RatedPlan]:
    """The plans of one engine layout on all nodes, with increasing numbers of requests in flight until the cache is
    full.
    """
    job = seeker.job
    replicas = max(1, job.ranks // engine.ranks)
    yield from _plans_by_concurrency(seeker, (None, replace(engine, replicas=replicas)))


def _is_saturated(rated: RatedPlan) -> bool:
    """Whether throughput has reached its maximum: the cache is full, or requests queue for long."""
    times = rated.times
    return times.offered > times.kv_capacity_sequences or times.wait > LONG_WAIT * (times.request_latency - times.ttft)


def _plans_by_concurrency(seeker: _Search, plan: tuple[Engines | None, Engines]) -> Iterator[RatedPlan]:
    decode, each = plan[1], 1
    while each <= MOST_IN_FLIGHT:
        one = seeker.rated_plan(plan, each * decode.replicas * decode.attention_dp)
        if one is None or _is_saturated(one):
            return
        yield one
        each *= LADDER
