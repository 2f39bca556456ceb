"""Plans with separate prefill and decode engines: a few engine layouts for each, in numbers that meet the targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from clusterspec.cluster.model import Engines
from clusterspec.records import replace
from clusterspec.search.serving.rated import Rated
from clusterspec.search.serving.space import ServingJob

MOST_KINDS = 5
"""Kinds of engine of each side that are combined."""


def separated(
    job: ServingJob, ladders: Mapping[Engines, Sequence[Rated]], rate: Callable[..., Rated | None]
) -> Iterator[Rated]:
    """Plans for every pair of the best prefill and decode layouts, with the fewest engines of each that meet the
    targets.

    ``ladders`` has each kind of engine with increasing numbers of requests in flight. Without targets, or where none
    meets them, the splits of all ranks.
    """
    lightest = [(engine, ladder[0]) for engine, ladder in ladders.items() if ladder]
    prefill = _undominated(lightest, lambda one: (one.times.prompt_time, _ranks_per_prompt(one)))
    decode = _undominated(lightest, lambda one: (one.times.tpot, one.plan[1].ranks / one.plan[1].attention_dp))
    decode += _busiest(job, ladders)
    own = [engine for engine in (job.load.prefill, job.load.decode) if engine is not None]
    for prompts in _once([*prefill, *own[:1]]):
        for answers in _once([*decode, *own[1:]]):
            if prompts.ranks + answers.ranks <= job.ranks:
                yield from _numbers(job, prompts, answers, rate)


def _once(kinds: Iterable[Engines]) -> list[Engines]:
    """Each kind of engine once, as a single replica."""
    return list(dict.fromkeys(replace(engine, replicas=1) for engine in kinds))


def _busiest(job: ServingJob, ladders: Mapping[Engines, Sequence[Rated]]) -> list[Engines]:
    """The engine layouts with the most output tokens per second per accelerator within the target per output token."""
    target = job.load.tpot_target or inf
    best = {
        engine: max((one.per_accelerator for one in ladder if one.times.tpot <= target), default=0.0)
        for engine, ladder in ladders.items()
    }
    return sorted((engine for engine, value in best.items() if value), key=lambda each: -best[each])[:MOST_KINDS]


def _ranks_per_prompt(rated: Rated) -> float:
    """Rank-seconds of an engine per prompt."""
    engine = rated.plan[1]
    return rated.times.prompt_time * engine.ranks / engine.attention_dp


def _undominated(
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


def _numbers(job: ServingJob, prompts: Engines, answers: Engines, rate: Callable[..., Rated | None]) -> Iterator[Rated]:
    """Plans for one prefill and one decode layout: the fewest engines that meet the targets, or splits of all ranks."""
    load = job.load
    if load.ttft_target is None and load.tpot_target is None:
        for count in steps((job.ranks - answers.ranks) // prompts.ranks):
            rest = (job.ranks - count * prompts.ranks) // answers.ranks
            one = rate((replace(prompts, replicas=count), replace(answers, replicas=rest)))
            if one is not None:
                yield one
        return
    for decoding in steps((job.ranks - prompts.ranks) // answers.ranks):
        decode = replace(answers, replicas=decoding)
        most = (job.ranks - decoding * answers.ranks) // prompts.ranks
        ample = rate((replace(prompts, replicas=most), decode))
        if ample is None:
            continue
        if not ample.meets:
            yield ample
            continue
        for count in steps(most):
            one = rate((replace(prompts, replicas=count), decode))
            if one is not None and one.meets:
                yield one
                return


def steps(most: int) -> list[int]:
    """Numbers of engines to try: 1, 2, 3, 4, 6, 8, 12 and so on, up to ``most``.

    >>> steps(10)
    [1, 2, 3, 4, 6, 8, 10]
    """
    found = sorted({each for power in range(most.bit_length()) for each in (1 << power, 3 << power)})
    return [each for each in found if each < most] + ([most] if most else [])
