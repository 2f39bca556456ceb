"""Plans with separate prefill and decode engines: a few engine layouts for each, in numbers that meet the targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from operator import le

from clusterspec.analysis.searches.serving_plans.space import (
    RatedPlan,
    ServingJob,
    engines,
    prefill_job,
    rated_plan,
)
from clusterspec.analysis.searches.studied import NO_PINS, Pins
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.requests import Engines
from clusterspec.records import replace

MOST_KINDS = 5
"""Kinds of engine of each side that are combined."""


def separated_plans(
    job: ServingJob,
    ladders: Mapping[Engines, Sequence[RatedPlan]],
    rated_plan_of: Callable[..., RatedPlan | None],
    away: Sequence[Engines] = (),
    pins: Pins = NO_PINS,
) -> Iterator[RatedPlan]:
    """Plans for every pair of the best prefill and decode layouts, with the fewest engines of each that meet the
    targets.

    ``ladders`` has each kind of engine with increasing numbers of requests in flight. Without targets, or where none
    meets them, the splits of all ranks.
    ``away`` are the kinds of prefill engine on another pool, if that is where they run. Engines of the spec are among
    the kinds where they have the degrees that ``pins`` fix.
    """
    lightest = [(engine, ladder[0]) for engine, ladder in ladders.items() if ladder]
    decode = _pareto_engines(lightest, lambda one: (one.times.tpot, one.plan[1].ranks / one.plan[1].attention_dp))
    decode += _busiest_engines(job, ladders)
    kinds = list(ladders) if job.prefill_ranks is None else away
    prompted = _plans_by_prefill_engine(job, kinds, _single_replicas(decode), rated_plan_of)
    prefill = _pareto_engines(prompted, _prefill_costs)
    stated = () if layout_error_rules(job.design) else (job.load.prefill, job.load.decode)
    own = [[engine] if engine is not None and has_degrees(engine, pins) else [] for engine in stated]
    for prompts in _single_replicas([*prefill, *chain(*own[:1])]):
        for answers in _single_replicas([*decode, *chain(*own[1:])]):
            if job.has_ranks_for(prompts.ranks, answers.ranks):
                yield from _plans_of_pair(job, prompts, answers, rated_plan_of)


def _plans_by_prefill_engine(
    job: ServingJob, kinds: Iterable[Engines], decode: Sequence[Engines], rated_plan_of: Callable[..., RatedPlan | None]
) -> Iterator[tuple[Engines, RatedPlan]]:
    """Each kind of prefill engine, with the plan of one such engine and the smallest decode engine."""
    smallest = min(decode, key=lambda engine: engine.ranks, default=None)
    for kind in kinds:
        if smallest is not None and job.has_ranks_for(kind.ranks, smallest.ranks):
            one = rated_plan_of((replace(kind, replicas=1), smallest))
            if one is not None:
                yield kind, one


def has_degrees(engine: Engines, pins: Pins) -> bool:
    """Whether an engine has the degrees that are fixed."""
    return all(getattr(engine, key) == value for key, value in pinned_degrees(pins).values.items())


def prefill_engines_away(job: ServingJob, most: float, pins: Pins) -> Iterator[Engines]:
    """The kinds of prefill engine that fit on the other pool.

    ``most`` is the memory that a plan may use here; the same share may be used there. Stages are for models that do not
    fit otherwise.
    """
    other = prefill_job(job)
    there, here = (each.cluster.accelerator.memory if each else None for each in (other, job))
    limit = most / here.value * there.value if there and here else most
    held: set[Engines] = set()
    for engine in sorted(engines(other, pinned_degrees(pins)), key=lambda each: each.pp) if other else ():
        one = rated_plan(other, (None, engine), limit, engine.attention_dp) if other else None
        if one is not None and (engine.pp == 1 or replace(engine, pp=1) not in held):
            held.add(engine)
            yield replace(engine, pool=job.load.prefill.pool if job.load.prefill else None)


def _single_replicas(kinds: Iterable[Engines]) -> list[Engines]:
    """Each kind of engine once, as a single replica."""
    return list(dict.fromkeys(replace(engine, replicas=1) for engine in kinds))


def _busiest_engines(job: ServingJob, ladders: Mapping[Engines, Sequence[RatedPlan]]) -> list[Engines]:
    """The engine layouts that decode the most tokens per second per rank within the target per output token, without
    prompts in their steps.
    """
    tightest = job.load.tightest_target("tpot")
    target = tightest.seconds if tightest else inf
    best = {
        engine: max((_rank_decode_rate(one) for one in ladder if _seconds_without_prompts(one) <= target), default=0.0)
        for engine, ladder in ladders.items()
    }
    return sorted((engine for engine, value in best.items() if value), key=lambda each: -best[each])[:MOST_KINDS]


def _seconds_without_prompts(rated: RatedPlan) -> float:
    """Seconds per output token of an engine that only decodes."""
    return rated.times.decode.total / rated.times.tokens_per_step


def _rank_decode_rate(rated: RatedPlan) -> float:
    """Output tokens per second and rank of an engine that only decodes."""
    engine = rated.plan[1]
    sequences = rated.times.sequences * engine.attention_dp / engine.ranks
    return sequences / _seconds_without_prompts(rated)


def _prefill_costs(rated: RatedPlan) -> tuple[float, float, int]:
    """The costs of a separate prefill engine: seconds of a prompt, rank-seconds per prompt, and ranks per engine."""
    engine = rated.plan[0]
    assert engine is not None
    return rated.times.prompt_time, rated.times.prompt_service * engine.ranks / engine.attention_dp, engine.ranks


def _pareto_engines(
    single: Iterable[tuple[Engines, RatedPlan]], costs: Callable[[RatedPlan], tuple[float, ...]]
) -> list[Engines]:
    """The Pareto front of engine layouts over all costs, at most `MOST_KINDS` of them, sorted by the first cost."""
    kept: list[tuple[tuple[float, ...], Engines]] = []
    for cost, engine in sorted(((costs(one), engine) for engine, one in single), key=lambda pair: pair[0]):
        if not any(all(map(le, other, cost)) for other, _ in kept):
            kept.append((cost, engine))
    engines = [engine for _, engine in kept]
    if len(engines) <= MOST_KINDS:
        return engines
    return [engines[round(at * (len(engines) - 1) / (MOST_KINDS - 1))] for at in range(MOST_KINDS)]


def _plans_of_pair(
    job: ServingJob, prompts: Engines, answers: Engines, rated_plan_of: Callable[..., RatedPlan | None]
) -> Iterator[RatedPlan]:
    """Plans for one prefill and one decode layout. With targets, the smallest numbers of engines that meet them;
    without, all divisions of the ranks.
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


def _amply_prefilled(
    job: ServingJob, prompts: Engines, answers: Engines, rated_plan_of: Callable[..., RatedPlan | None]
) -> Iterator[tuple[Engines, int, RatedPlan]]:
    """For each number of decode engines, the plan with prefill engines on all other ranks: the decode engines, the
    number of prefill engines, and the plan.
    """
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


def pinned_degrees(pins: Pins) -> Pins:
    return Pins({key: value for key, value in pins.values.items() if key != "pools"})
