"""Seconds that prompts add to the decode steps of the engine that runs them."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf

from clusterspec.cost.formulas.compute import power
from clusterspec.cost.formulas.experts import MOST_COUNTED, prompts_on_fullest
from clusterspec.cost.formulas.queues import share_of_fuller_steps
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_of_step, prompts_per_step
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits.held_prompts import steps_until_release
from clusterspec.cost.serving.waits.prompts import step_ahead, steps_of_prompts
from clusterspec.cost.serving.waits.receptions import time_after_receptions
from clusterspec.cost.serving.waits.replicas import prefill_time_of_replicas
from clusterspec.records import NamedTuple

HALVINGS = 24
"""Bisection steps for the share of steps with prompts."""
LEAST_PROMPTS = 1e-6
"""Fewer prompts per step count as none."""


def carried_prefill(
    pools: Pools, sequences: tuple[float, float], gained: float, steps: tuple[StepTime, StepTime], *, full: bool
) -> float:
    """Seconds that one prompt adds to the decode steps of its engine, of requests in step or not.

    ``sequences`` holds the sequences of a step and their context in tokens; each gains ``gained`` tokens per step.
    ``steps`` holds a decode step and the steps of one prompt.
    """
    if pools.in_one_wave:
        first = full_prompt_step(pools, float(pools.load.requests or 1))
        decoding_seconds = first.step.steps * steps[0].total if first.decoding.sequences else 0.0
        return max(0.0, first.step.lasting_seconds - decoding_seconds) / first.prompts
    if pools.in_waves or pools.in_groups:
        from clusterspec.cost.serving.waits.waves import prefill_time_in_full_steps

        return prefill_time_in_full_steps(pools, Decoding(*sequences, 1.0), steps)
    if pools.load.hold_steps > 1 and unevenly_loaded_ranks(pools.decode) > 1:
        return _prefill_time_of_delayed_prompts(pools, sequences, sequences[0] * gained / pools.load.gaps, steps)
    return _carried_out_of_step(pools, sequences, gained, steps, full=full)


class FullStep(NamedTuple):
    """A step of an attention rank that is full of ``prompts`` (the last one may be a part), and the ``decoding``
    sequences in it.
    """

    prompts: float
    step: StepTime
    decoding: Decoding


def full_prompt_step(pools: Pools, together: float, waiting: float = 0.0) -> FullStep:
    """A step of the prompts of a run whose requests start together: ``together`` of them have a place on the whole
    plan, or ``waiting`` more prompts follow.

    Where the same engine decodes, on average half of the requests with a place decode in the step, no more than start
    during an output.
    """
    engine, load = pools.prompts, pools.load
    fresh, length = max(1.0, load.fresh_tokens), float(load.input_tokens)
    own = together / engine.attention_ranks
    drafted, decoding = 1.0 + load.draft_tokens, NOTHING
    if not pools.has_prefill_engines and not engine.prompts_alone and own > 1:
        ending = (load.chunk_tokens or fresh) / fresh * load.gaps / load.tokens_per_step  # began and have not ended
        decoding = Decoding(max(1.0, min(own / 2, ending)) / engine.layout.pp, length + load.output_tokens / 2, drafted)
    budget = (load.chunk_tokens or fresh) - decoding.sequences * decoding.tokens
    prompts = max(1.0 / fresh, min(max(1.0, own, waiting / engine.attention_ranks), budget / fresh))
    seen = length - max(0.0, 1.0 - prompts) * fresh / 2  # as many tokens before a part of a prompt as on average
    step = prompt_step(engine, prompts * fresh, seen, float(engine.layout.attention_dp), decoding)
    return FullStep(prompts, step, decoding)


def _carried_out_of_step(
    pools: Pools, sequences: tuple[float, float], gained: float, steps: tuple[StepTime, StepTime], *, full: bool
) -> float:
    """`carried_prefill` of requests that are at different points of their outputs.

    Sequences that end in the same step are replaced by
    prompts that share the next step. In every step, attention replicas wait for the replica with the most prompts.
    """
    engine, load = pools.decode, pools.load
    (each, context), (decode, prefill) = sequences, steps
    prompts, ranks = each * gained / load.gaps, unevenly_loaded_ranks(engine)
    if engine.separates_prompts and ranks == 1:  # all that an engine receives after an interval share steps
        together, between = prompts * load.receive_interval, decode.total * load.receive_interval
        follow = load.load == "open" and not full
        ahead = step_ahead(pools, steps, 0.0)
        taken, seconds = steps_of_prompts(pools, together, between if follow else 0.0, ahead)
        return taken * seconds / together
    if ranks > 1 and engine.has_prompt_only_replicas and load.receive_interval > 1:
        return time_after_receptions(pools, prompts, steps, follow=load.load == "open" and not full)
    if ranks > 1 and engine.has_prompt_only_replicas:
        return prefill_time_of_replicas(pools, prompts, steps, follow=load.load == "open" and not full)
    alone = ranks == 1 and (prefill.steps > 1 or prompts_per_step(pools) == 1)
    if alone and (prompts <= 1 or (prefill.steps > 1 and load.chunk_tokens)):
        return _prefill_time_of_chunks(pools, (each, context), prompts, steps)
    if ranks > 1 and prefill.steps > 1:  # chunks of different ranks share steps
        ahead = step_ahead(pools, steps, -expm1(-prompts * prefill.steps * ranks))
        chunk = seconds_added(steps, ahead) / prefill.steps
        return chunk * -expm1(-prompts * prefill.steps * ranks) / prompts
    affected = 1.0 if alone else -expm1(-prompts * ranks)
    added = _seconds_of_shared_step(pools, sequences, (prompts, prompts, affected), decode)
    if load.load == "open" and ranks == 1 and not alone and not full:
        affected = share_of_steps_with_arrivals((prompts, decode.total), pools.engines_of_choice, lambda share: added)
        several = prompts / affected
        drawn = max(LEAST_PROMPTS, min(several, 2 * (several - 1)))  # a Poisson number with this mean where it is not 0
        added = _seconds_of_shared_step(pools, sequences, (prompts, drawn, affected), decode)
    return added * affected / prompts


def _seconds_of_shared_step(
    pools: Pools, sequences: tuple[float, float], prompts: tuple[float, float, float], decode: StepTime
) -> float:
    """Seconds by which a step with the prompts of other sequences exceeds a ``decode`` step. ``sequences`` and their
    context are those of a step.

    ``prompts`` holds the prompts that begin in a step of each rank on average, the mean of the Poisson number that
    begins in a step with prompts where it is not 0, and the share of the steps with prompts.
    """
    engine, load = pools.decode, pools.load
    (each, context), (started, drawn, affected) = sequences, prompts
    ranks = unevenly_loaded_ranks(engine)
    # a step has no more prompts than its budget; the others come with those of other ranks in the next, or in one more
    drafted = 1.0 + load.draft_tokens
    allowed = prompts_of_step(pools, each * drafted) if ranks == 1 else prompts_per_step(pools)
    most = max(started, min(prompts_on_fullest(started, ranks) / affected, allowed))
    affected = started / most if ranks == 1 else affected
    busy = float(engine.layout.attention_dp) / ranks * max(1.0, ranks * started / affected / most)
    fresh, length = load.fresh_tokens, float(load.input_tokens)
    many = prompt_step(engine, most * fresh, length, busy, Decoding(each, context, drafted))
    larger = share_beyond_graphs(pools, drawn, each * drafted, ranks)
    ending = each * drafted + most * fresh / length / many.steps
    ahead = step_ahead(pools, (decode, many), affected * many.steps)
    return sum(
        share * seconds_added((decode, many._replace(floor=many.steps * engine.host_floor(tokens, ending))), ahead)
        for share, tokens in ((1 - larger, engine.most_in_graphs), (larger, inf))
        if share
    )


def share_of_steps_with_arrivals(steps: tuple[float, float], engines: float, added: Callable[[float], float]) -> float:
    """The share of the steps of one of ``engines`` that hold prompts, in an open load.

    ``steps`` holds the prompts that begin in a step on average, and the seconds of a step without prompts; prompts add
    ``added`` seconds to a step, by the share. A step holds prompts if any came in the step before it, which is the more
    likely the longer that step took. The more steps hold prompts, the fewer follow from this, so that
    bisection finds the share.

    Source: the stationary state of a Markov chain of two states.
    """
    prompts, plain = steps
    low, high = 0.0, min(1.0, prompts)
    for _ in range(HALVINGS):
        share = (low + high) / 2
        longer = added(share)
        rate = prompts / (plain + share * longer)
        after = 1 - share_without_arrival(rate * plain, engines)
        following = after / (share_without_arrival(rate * (plain + longer), engines) + after)
        low, high = (share, high) if following > share else (low, share)
    return high


def share_without_arrival(mean: float, engines: float) -> float:
    """The share of times without an arrival at one of ``engines``, at which ``mean`` requests arrive in such a time.

    A request goes to the engine with the fewest, so nearly to each in turn. The number that arrives is then binomially
    distributed: with n / (n - 1) trials for n engines one arrival has 1 / n of the variance of random arrivals.

    >>> [round(share_without_arrival(0.5, engines), 3) for engines in (1, 2, 1e9)]
    [0.607, 0.562, 0.5]
    """
    if engines == 1:
        return exp(-mean)
    trials = engines / (engines - 1)
    return power(max(0.0, 1 - mean / trials), trials)


def _prefill_time_of_delayed_prompts(
    pools: Pools, sequences: tuple[float, float], prompts: float, steps: tuple[StepTime, StepTime]
) -> float:
    """`carried_prefill` of attention replicas whose prompts are held until each replica has one: the prompts of all
    replicas share a step.

    ``prompts`` come to each replica per decode step.
    """
    engine, load, (each, context) = pools.decode, pools.load, sequences
    every, ranks, drafted = steps_until_release(pools, prompts), engine.layout.attention_dp, 1.0 + load.draft_tokens
    some, started = -expm1(-prompts * ranks * every), prompts * every
    fullest = max(1.0, started, min(prompts_on_fullest(started, ranks) / some, prompts_per_step(pools)))
    busy = max(1.0, ranks * started / some / fullest)
    fresh, length = load.fresh_tokens, float(load.input_tokens)
    if engine.has_prompt_only_replicas:  # others decode in the same step, unless tokens are drafted
        decoding = 0.0 if load.draft_tokens else exp(-started)
        added = max(0.0, prompt_step(engine, fullest * fresh, length, busy).lasting_seconds - decoding * steps[0].total)
    else:
        many = prompt_step(engine, fullest * fresh, length, busy, Decoding(each, context, drafted))
        many = many._replace(floor=many.steps * engine.host_floor(inf, each * drafted + fullest))
        added = seconds_added((steps[0], many), step_ahead(pools, (steps[0], many), some * many.steps / every))
    return added * some / started


def share_beyond_graphs(pools: Pools, prompts: float, decoded: float, ranks: int = 1) -> float:
    """The share of steps with prompts that have more tokens than the largest captured graph on one of the ``ranks``
    whose steps run together.

    ``prompts`` begin in a step of each rank on average, together with ``decoded`` tokens of sequences that decode.
    """
    fresh = max(1.0, pools.load.fresh_tokens)
    most = max(0.0, (pools.decode.most_in_graphs - decoded) / fresh)
    if prompts >= MOST_COUNTED:
        return float(prompts > most)
    fuller = share_of_fuller_steps(prompts, most)
    if ranks == 1:
        return fuller
    on_one = -fuller * expm1(-prompts)
    return (1 - (1 - on_one) ** ranks) / -expm1(-prompts * ranks)


def _prefill_time_of_chunks(
    pools: Pools, sequences: tuple[float, float], prompts: float, steps: tuple[StepTime, StepTime]
) -> float:
    """Prefill carried by decode steps, as in `carried_prefill`, for prompts that share a step only where the next
    prompt fills the last chunk.

    The next prompt comes in time with the probability that a step holds prompts; full steps then follow each other.
    """
    engine, load, (decode, prefill) = pools.decode, pools.load, steps
    added = seconds_added(steps, step_ahead(pools, steps, prompts * prefill.steps))
    if prefill.steps == 1 or not load.chunk_tokens:
        return added
    fresh, length, (each, context), drafted = load.fresh_tokens, load.input_tokens, sequences, 1.0 + load.draft_tokens
    budget = max(1.0, load.chunk_tokens - (each * drafted if each > 1 else 0.0))
    chunks, seen = fresh / budget, length - fresh / 2
    whole = float(length) if budget >= fresh else seen + budget / 2  # whose last tokens see as many
    full = prompt_step(engine, budget, whole, float(engine.layout.attention_dp), Decoding(each, context, drafted))
    packed = chunks * seconds_added((decode, full), step_ahead(pools, (decode, full), prompts * chunks) / chunks)
    shared = min(1.0, prompts * chunks)
    return (1.0 - shared) * added + shared * min(added, packed)


def seconds_added(steps: tuple[StepTime, StepTime], ahead: float) -> float:
    """Seconds by which the steps of a prompt exceed the same number of decode steps; ``steps`` holds a decode step and
    the steps with the prompt.

    Captured graphs launch decode steps whole, and steps with prompts at most in part: the host may take longer for
    these than the device. It begins ``ahead`` seconds before the device is free for the first of them.
    """
    decode, prefill = steps
    launching = prefill.floor - ahead - prefill.steps * decode.total
    return max(0.0, prefill.device - prefill.steps * decode.device, launching)
