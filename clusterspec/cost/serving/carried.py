"""Seconds that prompts add to the decode steps of the engine that runs them."""

from __future__ import annotations

from math import expm1, inf

from clusterspec.cost.formulas.experts import MOST_COUNTED, prompts_on_fullest
from clusterspec.cost.formulas.queues import share_of_fuller_steps
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.parts import CACHE, unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_of_step, prompts_per_step
from clusterspec.cost.serving.replicas import carried_by_replicas
from clusterspec.cost.serving.waits import steps_of_prompts


def carried_prefill(
    pools: Pools, sequences: tuple[float, float], gained: float, steps: tuple[StepTime, StepTime], *, full: bool
) -> float:
    """Seconds that one prompt adds to the decode steps of its engine.

    ``sequences`` holds the sequences of a step and their context in tokens; each gains ``gained`` tokens per step.
    ``steps`` holds a decode step and the steps of one prompt. Sequences that end in the same step are replaced by
    prompts that share the next step. In every step, attention replicas wait for the replica with the most prompts.
    """
    engine, load = pools.decode, pools.load
    (each, context), (decode, prefill) = sequences, steps
    prompts, ranks = each * gained / load.gaps, unevenly_loaded_ranks(engine)
    if engine.separates_prompts and ranks == 1:  # all that an engine receives after an interval share steps
        together, between = prompts * load.receive_interval, decode.total * load.receive_interval
        follow = load.load == "open" and not full
        taken, seconds = steps_of_prompts(pools, together, between if follow else 0.0)
        return taken * seconds / together
    if ranks > 1 and engine.replica_prompts_alone:
        return carried_by_replicas(pools, prompts, steps, follow=load.load == "open" and not full)
    alone = ranks == 1 and (prefill.steps > 1 or prompts_per_step(pools) == 1)
    if alone and prompts <= 1:
        return max(0.0, _seconds_added(steps) - _shared_reads(pools, each, prompts, steps))
    if ranks > 1 and prefill.steps > 1:  # chunks of different ranks share steps
        chunk = _seconds_added(steps) / prefill.steps
        return chunk * -expm1(-prompts * prefill.steps * ranks) / prompts
    affected = 1.0 if alone else -expm1(-prompts * ranks)
    # a step has no more prompts than its budget; the others come with those of other ranks in the next, or in one more
    drafted = 1.0 + load.draft_tokens
    allowed = prompts_of_step(pools, each * drafted) if ranks == 1 else prompts_per_step(pools)
    most = max(prompts, min(prompts_on_fullest(prompts, ranks) / affected, allowed))
    affected = prompts / most if ranks == 1 else affected
    busy = float(engine.layout.attention_dp) / ranks * max(1.0, ranks * prompts / affected / most)
    fresh, length = load.fresh_tokens, float(load.input_tokens)
    beside = Decoding(each, context, drafted)
    many = engine.prefill(most * fresh, length, busy, beside)
    larger = 1.0 if ranks > 1 else _share_beyond_graphs(pools, prompts, each * drafted)
    added = sum(
        share * _seconds_added((decode, many._replace(floor=many.steps * engine.launch_floor(tokens))))
        for share, tokens in ((1 - larger, engine.most_in_graphs), (larger, inf))
        if share
    )
    return added * affected / prompts


def _share_beyond_graphs(pools: Pools, prompts: float, decoded: float) -> float:
    """The share of steps with prompts that have more tokens than the largest captured graph.

    ``prompts`` begin in a step on average, beside ``decoded`` tokens of sequences that decode.
    """
    fresh = max(1.0, pools.load.fresh_tokens)
    most = max(0.0, (pools.decode.most_in_graphs - decoded) / fresh)
    return share_of_fuller_steps(prompts, most) if prompts < MOST_COUNTED else float(prompts > most)


def _seconds_added(steps: tuple[StepTime, StepTime]) -> float:
    """Seconds by which the steps of a prompt are longer than as many decode steps; ``steps`` holds a decode step and
    the steps with the prompt.

    Captured graphs launch decode steps whole, and steps with prompts at most in part: the host may take longer for
    these than the device.
    """
    decode, prefill = steps
    launching = prefill.floor - prefill.steps * decode.total
    return max(0.0, prefill.device - prefill.steps * decode.device, launching)


def _shared_reads(pools: Pools, each: float, prompts: float, steps: tuple[StepTime, StepTime]) -> float:
    """Seconds of KV-cache reads that consecutive prompts share: a prompt that arrives in time fills the rest of the
    last chunk of its predecessor.

    ``prompts`` begin in a step with ``each`` decoding sequences; ``steps`` holds a decode step and the steps of one
    prompt.
    """
    load, (decode, prefill) = pools.load, steps
    if prefill.steps == 1 or not load.chunk_tokens or pools.decode.reads_beside_prompts == 1:
        return 0.0
    fresh = load.fresh_tokens
    chunks = fresh / max(1.0, load.chunk_tokens - each * (1.0 + load.draft_tokens))
    repeated, once = (sum(part.seconds for part in step.parts if part.name == CACHE) for step in (prefill, decode))
    return (prefill.steps - chunks) * min(1.0, prompts * chunks) * max(0.0, repeated - once)
