"""Plans with separate prefill and decode engines: a few engine layouts for each, in numbers that meet the targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil, inf

from clusterspec.analysis.serving_plans.separation import Kinds, best_of_kinds
from clusterspec.analysis.serving_plans.space import (
    Rated,
    ServingJob,
    distinct_plans,
    engines,
    front,
    own_plan,
    prefill_job,
    ranked_plans,
    rated_plan,
    replicated_plans,
)
from clusterspec.analysis.studied import Pins
from clusterspec.cluster.legality import refusals
from clusterspec.cluster.requests import Engines
from clusterspec.records import dataclass, replace

BALANCED = 2
"""Number of decode engine kinds for which every count is tried when there are no targets."""
BUSY = 0.9
"""Utilization of prefill engines in a plan without targets: prompts queue for longer above it."""
MOST_KINDS = 5
"""Kinds of engine of each side that are combined."""


def separated_plans(
    job: ServingJob,
    ladders: Mapping[Engines, Sequence[Rated]],
    rated_plan_of: Callable[..., Rated | None],
    away: Sequence[tuple[Engines, Rated]] = (),
) -> Iterator[Rated]:
    """Plans for every pair of the best prefill and decode layouts, with the fewest engines of each that meet the
    targets.

    ``ladders`` has each kind of engine with increasing numbers of requests in flight. Without targets, or where none
    meets them, the splits of all ranks; without targets also fewer engines of the kinds that make the most tokens.
    ``away`` are the kinds of prefill engine on another pool, if that is where they run.
    """
    lightest = [(engine, ladder[0]) for engine, ladder in ladders.items() if ladder]
    prefill_ladders = away if job.prefill_ranks is not None else lightest
    prefill = _pareto_engines(prefill_ladders, lambda one: (one.times.prompt_time, _ranks_per_prompt(one)))
    decode = _pareto_engines(lightest, lambda one: (one.times.tpot, one.plan[1].ranks / one.plan[1].attention_dp))
    decode += _busiest_engines(job, ladders)
    stated = () if refusals(job.design) else (job.load.prefill, job.load.decode)
    own = [engine for engine in stated if engine is not None]
    for prompts in _single_replicas([*prefill, *own[:1]]):
        for answers in _single_replicas([*decode, *own[1:]]):
            if prompts.ranks <= job.ranks_left_for_prefill(
                answers.ranks
            ) and answers.ranks <= job.ranks_left_for_decode(prompts.ranks):
                yield from _plans_of_pair(job, prompts, answers, rated_plan_of)
    if not job.load.targets and prefill:
        for answers in _single_replicas(_busiest_engines(job, ladders)[:BALANCED]):
            yield from _balanced_plans(job, replace(prefill[-1], replicas=1), answers, rated_plan_of)


def _prefill_engines_of_other_pool(job: ServingJob, most: float) -> Iterator[tuple[Engines, Rated]]:
    """The kinds of prefill engine on another pool, with their times for few requests.

    ``most`` is the memory that a plan may use here; the same share may be used there. Stages are for models that do not
    fit otherwise.
    """
    other = prefill_job(job)
    there, here = (each.cluster.accelerator.memory if each else None for each in (other, job))
    limit = most / here.value * there.value if there and here else most
    held: set[Engines] = set()
    for engine in sorted(engines(other), key=lambda each: each.pp) if other else ():
        one = rated_plan(other, (None, engine), limit, engine.attention_dp) if other else None
        if one is not None and (engine.pp == 1 or replace(engine, pp=1) not in held):
            held.add(engine)
            yield replace(engine, pool=job.load.prefill.pool if job.load.prefill else None), one


def _single_replicas(kinds: Iterable[Engines]) -> list[Engines]:
    """Each kind of engine once, as a single replica."""
    return list(dict.fromkeys(replace(engine, replicas=1) for engine in kinds))


def _busiest_engines(job: ServingJob, ladders: Mapping[Engines, Sequence[Rated]]) -> list[Engines]:
    """The engine layouts with the most output tokens per second per accelerator within the target per output token."""
    tightest = job.load.tightest_target("tpot")
    target = tightest.seconds if tightest else inf
    best = {
        engine: max((one.per_accelerator for one in ladder if one.times.tpot <= target), default=0.0)
        for engine, ladder in ladders.items()
    }
    return sorted((engine for engine, value in best.items() if value), key=lambda each: -best[each])[:MOST_KINDS]


def _ranks_per_prompt(rated: Rated) -> float:
    """Rank-seconds of an engine per prompt."""
    engine = rated.plan[1]
    return rated.times.prompt_service * engine.ranks / engine.attention_dp


def _pareto_engines(
    single: Sequence[tuple[Engines, Rated]], costs: Callable[[Rated], tuple[float, float]]
) -> list[Engines]:
    """The Pareto front of engine layouts over both costs, at most `MOST_KINDS` of them."""
    kept: list[tuple[float, Engines]] = []
    for (_, second), engine in sorted(((costs(one), engine) for engine, one in single), key=lambda pair: pair[0]):
        if not kept or second < kept[-1][0]:
            kept.append((second, engine))
    engines = [engine for _, engine in kept]
    if len(engines) <= MOST_KINDS:
        return engines
    return [engines[round(at * (len(engines) - 1) / (MOST_KINDS - 1))] for at in range(MOST_KINDS)]


def _plans_of_pair(
    job: ServingJob, prompts: Engines, answers: Engines, rated_plan_of: Callable[..., Rated | None]
) -> Iterator[Rated]:
    """Plans for one prefill and one decode layout: the fewest engines that meet the targets, or all divisions of the
    ranks.
    """
    load = job.load
    if not load.targets:
        for count in engine_numbers(job.ranks_left_for_prefill(answers.ranks) // prompts.ranks):
            rest = job.ranks_left_for_decode(count * prompts.ranks) // answers.ranks
            one = rated_plan_of((replace(prompts, replicas=count), replace(answers, replicas=rest)))
            if one is not None:
                yield one
        return
    for decode, most, ample in _amply_prefilled(job, prompts, answers, rated_plan_of):
        if not ample.meets:
            yield ample
            continue
        for count in engine_numbers(most):
            one = rated_plan_of((replace(prompts, replicas=count), decode))
            if one is not None and one.meets:
                yield one
                return


def _balanced_plans(
    job: ServingJob, prompts: Engines, answers: Engines, rated_plan_of: Callable[..., Rated | None]
) -> Iterator[Rated]:
    """Plans with every number of decode engines, and the prefill engines that their prompts keep busy."""
    for decode, most, ample in _amply_prefilled(job, prompts, answers, rated_plan_of):
        enough = ceil(ample.times.prompt_load * most / BUSY)
        if enough < most:
            one = rated_plan_of((replace(prompts, replicas=max(1, enough)), decode))
            if one is not None:
                yield one


def _amply_prefilled(
    job: ServingJob, prompts: Engines, answers: Engines, rated_plan_of: Callable[..., Rated | None]
) -> Iterator[tuple[Engines, int, Rated]]:
    """Every number of decode engines with prefill engines on all other ranks: those, their number, and the plan."""
    for decoding in engine_numbers(job.ranks_left_for_decode(prompts.ranks) // answers.ranks):
        decode = replace(answers, replicas=decoding)
        most = job.ranks_left_for_prefill(decoding * answers.ranks) // prompts.ranks
        ample = rated_plan_of((replace(prompts, replicas=most), decode))
        if ample is not None:
            yield decode, most, ample


def engine_numbers(most: int) -> list[int]:
    """Numbers of engines to try: 1, 2, 3, 4, 6, 8, 12 and so on, up to ``most``.

    >>> engine_numbers(10)
    [1, 2, 3, 4, 6, 8, 10]
    """
    found = sorted({each for power in range(most.bit_length()) for each in (1 << power, 3 << power)})
    return [each for each in found if each < most] + ([most] if most else [])


# One search of serving plans: the best that meet the targets at the load, and the front over concurrency

SPARE = 4
"""Plans that are kept for each one asked for, since a rule may refuse some."""
LEAST = 10
"""Minimum number of plans for which spares are kept, so that the pick does not depend on the number shown."""
MOST_IN_FLIGHT = 1024
"""Requests in flight on one attention rank, at most, of the front."""
FRONT_POOLS = 4
"""Plans with separate engines whose concurrency is varied for the front."""
LADDER = 4
"""Ratio of successive numbers of requests in flight, before the front is refined."""
LONG_WAIT = 0.25
"""Wait for a place over the time of an answer from which the front ends."""
Progress = Callable[[int, int], object]
"""Called with the plans done and all of them; a true result ends the search with the plans found so far."""


@dataclass(frozen=True)
class FoundPlans:
    """The results of one search: ``best`` meet the targets; where none does, ``nearest`` misses them least.

    ``may_fit`` of the ``meeting`` plans fit as predicted, but not at the upper end of their memory range; ``unsure``
    where that is true of all of them.
    """

    evaluated: int
    meeting: int
    best: tuple[Rated, ...]
    front: tuple[Rated, ...]
    nearest: Rated | None
    may_fit: int = 0
    unsure: bool = False
    kinds: Kinds = Kinds(None, None)


class _Search:
    def __init__(self, job: ServingJob, most: float, progress: Progress) -> None:
        self.job, self.most, self._progress = job, most, progress
        self.evaluated = 0
        self.total = 1
        self.ended = False

    def rated_plan(self, plan: tuple[Engines | None, Engines], concurrency: int | None = None) -> Rated | None:
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

    `Pins` may fix the degrees of an engine; ``pools`` of aggregated or disaggregated fixes the kind of plan.
    """
    seeker = _Search(job, most, progress)
    kinds = list(engines(job, _pinned_degrees(pins)))
    seeker.total = max(1, sum(8 + min(16, job.ranks // engine.ranks) for engine in kinds))
    found: list[Rated] = list(_plans_of_spec(seeker, pins))
    shown: list[Rated] = []
    ladders = _plans_by_engines(seeker, kinds, pins)
    if pins.values.get("pools") != "disaggregated":
        for engine in ladders:
            found += _plans_of_one_kind(seeker, engine)
            shown += ladders[engine]
    if _may_separate(job, pins):
        away = list(_prefill_engines_of_other_pool(job, most)) if job.prefill_ranks is not None else []
        pools = list(separated_plans(job, ladders, seeker.rated_plan, away))
        found += pools
        for one in ranked_plans(pools, "tokens_per_accelerator")[: FRONT_POOLS if with_front else 0]:
            shown += _plans_by_concurrency(seeker, one.plan)
    front_of = shown if with_front else None
    return _best_plans(seeker, found, front_of, objective=objective, most=max(top, LEAST) * SPARE, surely=surely)


def _best_plans(
    seeker: _Search, rated: list[Rated], shown: list[Rated] | None, *, objective: str, most: int, surely: bool
) -> FoundPlans:
    """The result of a search: ``most`` of the best ``rated`` plans, and the front of those ``shown``, if any are."""
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
        tuple(_refined_front(seeker, front(ends))) if ends is not None else (),
        None if meeting else nearest,
        len(meeting) - len(certain),
        surely and bool(meeting) and not certain,
        best_of_kinds(certain + missing if surely and certain else found, objective),
    )


def _pinned_degrees(pins: Pins) -> Pins:
    return Pins({key: value for key, value in pins.values.items() if key != "pools"})


def _may_separate(job: ServingJob, pins: Pins) -> bool:
    """Whether the search includes separate prefill and decode engines: not where degrees of one engine are fixed."""
    return not one_kind_reason(job, pins)


def one_kind_reason(job: ServingJob, pins: Pins) -> str:
    """Why a search looks at one kind of plan alone; empty if it compares both."""
    fixed = pins.values.get("pools")
    if fixed == "aggregated" or _pinned_degrees(pins).values:
        keys = ", ".join(sorted(_pinned_degrees(pins).values)) or "pools"
        return f"`{keys}` is fixed, which leaves one kind of engine"
    if job.ranks < 2 and job.prefill_ranks is None:
        return "there is one rank"
    if job.load.load not in {"closed", "open"}:
        return f"a load that is `{job.load.load}` has no prompts that arrive while others decode"
    return ""


def _plans_of_spec(seeker: _Search, pins: Pins) -> Iterator[Rated]:
    """The plan of the spec, unless degrees are fixed, it cannot run, or its ranks are not there."""
    job = seeker.job
    prefill, decode = own_plan(job)
    left = job.ranks_left_for_decode(prefill.replicas * prefill.ranks if prefill else 0)
    if pins.values or refusals(job.design) or decode.replicas * decode.ranks > left:
        return
    one = seeker.rated_plan((prefill, decode))
    if one is not None:
        yield one


def _plans_of_one_kind(seeker: _Search, engine: Engines) -> Iterator[Rated]:
    """The plans of one kind of engine by the number of engines."""
    for plan in replicated_plans(seeker.job, engine):
        one = seeker.rated_plan(plan)
        if one is not None:
            yield one


def _plans_by_engines(seeker: _Search, kinds: list[Engines], pins: Pins) -> dict[Engines, list[Rated]]:
    """Each engine layout that fits, with increasing numbers of requests in flight.

    Pipeline stages are used only for models that do not fit otherwise, and for accelerators without scale-up
    interconnect.
    """
    staged = "pp" in pins or seeker.job.cluster.scale_up.topology == "pcie"
    found: dict[Engines, list[Rated]] = {}
    for engine in sorted(kinds, key=lambda each: each.pp):
        if engine.pp > 1 and not staged and replace(engine, pp=1) in found:
            continue
        ladder = list(_plans_of_layout(seeker, engine))
        if ladder:
            found[engine] = ladder
    return found


def _refined_front(seeker: _Search, rough: list[Rated]) -> list[Rated]:
    """The front extended by plans with half and twice the requests in flight of each of its points."""
    tried = {(one.plan, one.concurrency) for one in rough}
    more: list[Rated] = []
    for one in rough:
        for requests in ((one.concurrency or 0) // 2, 2 * (one.concurrency or 0)):
            if (one.plan, requests) in tried or requests < one.plan[1].replicas * one.plan[1].attention_dp:
                continue
            tried.add((one.plan, requests))
            found = seeker.rated_plan(one.plan, requests)
            if found is not None and not _is_saturated(found):
                more.append(found)
    return distinct_plans(front([*rough, *more]))


def _plans_of_layout(seeker: _Search, engine: Engines) -> Iterator[Rated]:
    """The plans of one engine layout on all nodes, with increasing numbers of requests in flight until the cache is
    full.
    """
    job = seeker.job
    replicas = max(1, job.ranks // engine.ranks)
    yield from _plans_by_concurrency(seeker, (None, replace(engine, replicas=replicas)))


def _is_saturated(rated: Rated) -> bool:
    """Whether throughput has reached its maximum: the cache is full, or requests queue for long."""
    times = rated.times
    return times.offered > times.kv_capacity_sequences or times.wait > LONG_WAIT * (times.request_latency - times.ttft)


def _plans_by_concurrency(seeker: _Search, plan: tuple[Engines | None, Engines]) -> Iterator[Rated]:
    decode, each = plan[1], 1
    while each <= MOST_IN_FLIGHT:
        one = seeker.rated_plan(plan, each * decode.replicas * decode.attention_dp)
        if one is None or _is_saturated(one):
            return
        yield one
        each *= LADDER
