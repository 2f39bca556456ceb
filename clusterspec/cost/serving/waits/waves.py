"""Requests of equal lengths in a closed loop, which stay in step: requests that start together end together, so the
prompts of the next requests also arrive together.
"""

from __future__ import annotations

from math import ceil, inf

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.pools import Pools, prompts_of_step
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits.prompts import step_ahead, steps_of_prompts
from clusterspec.cost.serving.waits.rounds import Round

ROUNDED = 1e-9
"""Absolute tolerance of a number of steps."""


def group_of_prompts(pools: Pools, decoding: Decoding) -> tuple[float, StepTime]:
    """The prompts that share the token budget of a step with the sequences that decode, and the steps of so many.

    ``decoding`` counts all sequences of an attention rank. No more prompts than sequences arrive together.
    """
    prompts = min(max(1.0, decoding.sequences), prompts_of_step(pools, decoding.sequences * decoding.tokens))
    return prompts, _steps_of_prompts(pools, prompts, decoding)


def _steps_of_prompts(pools: Pools, prompts: float, decoding: Decoding) -> StepTime:
    load, busy = pools.load, float(pools.prompts.layout.attention_dp)
    return prompt_step(pools.prompts, prompts * load.fresh_tokens, float(load.input_tokens), busy, decoding)


def prefill_time_in_full_steps(pools: Pools, decoding: Decoding, steps: tuple[StepTime, StepTime]) -> float:
    """Seconds that one prompt adds to the decode steps of its engine, where all prompts of a round share full steps.

    ``steps`` holds a decode step and the steps of one prompt. An engine that separates prompts runs the prompts of all
    sequences of a rank before any sequence decodes.
    """
    if pools.in_waves:
        taken, seconds = steps_of_prompts(pools, decoding.sequences, 0.0, step_ahead(pools, steps, 0.0))
        return taken * seconds / decoding.sequences
    prompts, group = group_of_prompts(pools, decoding)
    return max(0.0, group.lasting_seconds - group.steps * steps[0].total) / prompts


def round_of_loop(pools: Pools, decoding: Decoding, step: float) -> Round:
    """The round of a loop of equal requests on an engine that mixes prompts with decoding, without the seconds of its
    prompts. A decode step takes ``step`` seconds; steps with prompts hold the sequences in ``decoding``.

    A request reaches the engine during the step after the end of the one before it, or later if steps end while it is
    outside the engine. Its prompt has the next step, or one later where the engine forms steps ahead.
    """
    load, requests = pools.load, float(pools.load.concurrency or 1) / pools.decode.attention_ranks
    ahead = 1 if pools.decode.runs_ahead else 0
    ended = max(1, ceil(pools.outside / step - ROUNDED))
    taken = decoding.sequences * decoding.tokens
    prompts = min(max(1.0, requests - 1), prompts_of_step(pools, taken))
    budget = max(1.0, (load.chunk_tokens or inf) - taken)
    return Round(requests, prompts, ahead + ended, max(1.0, prompts * load.fresh_tokens / budget), step)


def wait_in_step(pools: Pools, decode: StepTime, decoding: Decoding, prompt: float) -> tuple[float, float]:
    """Mean seconds that a prompt waits in a loop of equal requests on an engine that mixes prompts with decoding, and
    how much longer the median prompt waits.

    ``prompt`` is the time of a single prompt, counted elsewhere, as is the time outside the engine.
    """
    found = round_of_loop(pools, decoding, decode.total)
    group = _steps_of_prompts(pools, found.prompts, decoding).lasting_seconds
    if found.requests <= 1:
        return max(0.0, group - prompt), 0.0
    found = found._replace(own=prompt, group=group)
    mean = found.mean(found.first_token_seconds)
    return max(0.0, mean - pools.outside - prompt), found.median_first_token - mean


def delaying_prompts_in_step(pools: Pools, decoding: Decoding, step: float) -> float:
    """Mean number of prompts that delay a request in a loop of equal requests, on an engine that mixes prompts with
    decoding; ``step`` is the seconds of a decode step.
    """
    found = round_of_loop(pools, decoding, step)
    return found.mean(found.delaying_prompts)
