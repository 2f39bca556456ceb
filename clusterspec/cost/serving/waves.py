"""Requests of equal lengths in a closed loop, which stay in step: requests that start together end together, so the
prompts of the next requests also arrive together.
"""

from __future__ import annotations

from math import ceil

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.pools import Pools, prompts_of_step
from clusterspec.cost.serving.waits import step_ahead, steps_of_prompts

ROUNDED = 1e-9
"""Absolute tolerance of a number of steps."""


def group_of_prompts(pools: Pools, decoding: Decoding, alone: float = 0.0) -> tuple[float, StepTime]:
    """The prompts that share the token budget of a step with the sequences that decode, and the steps of so many.

    ``decoding`` counts all sequences of an attention rank. No more prompts than sequences arrive together, except
    prompts with separate steps (``alone``).
    """
    load = pools.load
    prompts = min(max(1.0, decoding.sequences - alone), prompts_of_step(pools, decoding.sequences * decoding.tokens))
    busy = float(pools.prompts.layout.attention_dp)
    return prompts, pools.prompts.prefill(prompts * load.fresh_tokens, float(load.input_tokens), busy, decoding)


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


def wait_in_step(pools: Pools, decode: StepTime, decoding: Decoding, prompt: float) -> tuple[float, float]:
    """Mean seconds that a prompt waits in a loop of equal requests on an engine that mixes prompts with decoding, and
    how much longer the median prompt waits.

    A full step of prompts ends with the requests whose prompts shared a step one round before. Their successors reach
    the engine during the next step, which has the prompts of the successors of those that ended a step before; they
    have the step after it, or one later where the engine forms steps ahead. Before the first groups of a round, those
    steps decode only: each ends the requests of another group, whose successors wait for the groups before theirs. The
    request that comes first finds the engine idle and has a separate step; requests that come while it runs follow one
    step later, and stay one step behind. ``prompt`` is the time of a single prompt, counted elsewhere, as is the time
    outside the engine.
    """
    prompts, group = group_of_prompts(pools, decoding, 1.0)
    if decoding.sequences <= 1:
        return max(0.0, group.lasting_seconds - prompt), 0.0
    steps = 2 if pools.decode.runs_ahead else 1
    ended = ceil(pools.outside / decode.total - ROUNDED)  # steps that end while a successor is outside, and the next
    between = steps - 1 + max(1, ended)
    apart = _steps_of_group(pools, prompts, decoding)
    most, groups = between / apart, (decoding.sequences - 1) / prompts
    before, each = mean_groups_before(most, groups), group.lasting_seconds - apart * decode.total
    wait = max(0.0, between * decode.total + before * each + group.lasting_seconds - pools.outside - prompt)
    return wait, max(0.0, min(most, groups / 2) - before) * each if groups >= 2 else 0.0


def _steps_of_group(pools: Pools, prompts: float, decoding: Decoding) -> float:
    """The steps from the end of one group of ``prompts`` to that of the next, fractions included: a prompt that does
    not fit in a step ends in the middle of one, which the next prompt fills.
    """
    load = pools.load
    if not load.chunk_tokens:
        return 1.0
    budget = max(1.0, load.chunk_tokens - decoding.sequences * decoding.tokens)
    return max(1.0, prompts * load.fresh_tokens / budget)


def mean_groups_before(most: float, groups: float) -> float:
    """The mean number of groups of prompts for which one of a round of ``groups`` waits: the first for none, each for
    one more than the group before it, up to ``most``.

    >>> mean_groups_before(2, 4), mean_groups_before(1.5, 4), mean_groups_before(9, 1)
    (1.25, 1.0, 0.0)
    """
    whole = range(1, ceil(most) + 1)
    return sum(max(0.0, 1 - step / groups) * min(1.0, most - step + 1) for step in whole)
