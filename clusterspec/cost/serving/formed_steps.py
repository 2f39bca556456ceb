"""The step that an engine formed before a prompt came, for which the prompt waits."""

from __future__ import annotations

from math import expm1, inf

from clusterspec.cost.serving.carried import share_beyond_graphs
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.held_prompts import steps_until_release
from clusterspec.cost.serving.parts import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_of_step
from clusterspec.cost.serving.replica_waits import lead_of_replicas, starts_prompts_at_any_time
from clusterspec.cost.serving.replicas import runs_in_cycles
from clusterspec.cost.serving.running_steps import lead_of_launch
from clusterspec.cost.serving.waits import steps_of_prompts

LEAST_PROMPTS = 1e-6
"""Fewer prompts per step count as none."""


def seconds_formed_ahead(pools: Pools, sequences: float, steps: tuple[StepTime, StepTime], carried: float) -> float:
    """Mean seconds of a step that an engine formed before a prompt came, with ``sequences`` on each attention rank.

    ``steps`` holds a decode step and the steps of one prompt, which adds ``carried`` seconds to the steps.
    """
    load, (decode, prefill), engine = pools.load, steps, pools.decode
    if load.load not in {"closed", "open"} or pools.has_prefill_engines or load.output_tokens == 1:
        return 0.0
    if runs_in_cycles(pools, prefill):
        return 0.0
    looped, prompts = load.concurrency is not None, sequences / load.gaps
    present = pools.share_with_others if looped else pools.share_of_arrivals_at_busy(sequences)
    if engine.prompts_alone and prompts:
        taken, each = steps_of_prompts(pools, prompts, 0.0 if looped else decode.total, decode.total)
        many = _step_time_of_several(pools, prompts / taken, 0.0, prefill)._replace(total=each)
        return present * _wait_for_formed_step(pools, (decode, many), taken / (1 + taken))
    if starts_prompts_at_any_time(pools):
        prompts *= load.tokens_per_step
        return present * lead_of_replicas(pools, prompts / (decode.total + prompts * carried), steps)
    every, ranks = steps_until_release(pools, prompts), unevenly_loaded_ranks(engine)
    mixed = -expm1(-prompts * prefill.steps * every * ranks) / every
    if prefill.steps == 1 and prompts >= LEAST_PROMPTS:
        several = min(prompts / mixed, prompts_of_step(pools, sequences))
        if ranks == 1:
            prefill = _step_time_of_several(pools, several, sequences, prefill)
        else:
            larger = share_beyond_graphs(pools, prompts, sequences, ranks)
            prefill = _step_time_partly_in_graphs(pools, larger, sequences + max(1.0, several), prefill)
        prefill = prefill._replace(total=decode.total + prompts * carried / engine.layout.pp / mixed)
    return present * _wait_for_formed_step(pools, (decode, prefill), mixed)


def _wait_for_formed_step(pools: Pools, steps: tuple[StepTime, StepTime], mixed: float) -> float:
    """Mean seconds of the step that was formed before a prompt came, as far as the host had not to launch it first; 0
    if the engine forms a step at the end of the one before. ``steps`` holds a decode step and the steps of a prompt;
    the share ``mixed`` of all steps are prompt steps.

    The prompt runs after that step. While it runs the host launches the step of the prompt.
    """
    if not pools.decode.runs_ahead:
        return 0.0
    decode, prefill = steps
    found = lead_of_launch(min(1.0, mixed), decode.total, prefill.total / prefill.steps, prefill.floor / prefill.steps)
    return found / pools.load.receive_interval  # the wait for a reception holds such a step


def _step_time_of_several(pools: Pools, several: float, decoded: float, prefill: StepTime) -> StepTime:
    """The steps of one prompt, ``prefill``, with the time that the host needs for ``several`` in each.

    A Poisson number that is not 0 has the mean ``several``; without that condition it is twice as much above 1, or
    nearly ``several`` where that is large.
    """
    drawn = max(LEAST_PROMPTS, min(several, 2 * (several - 1)))
    larger = share_beyond_graphs(pools, drawn, decoded)
    return _step_time_partly_in_graphs(pools, larger, decoded + several, prefill)


def _step_time_partly_in_graphs(pools: Pools, larger: float, ending: float, prefill: StepTime) -> StepTime:
    """The steps of one prompt, ``prefill``, with the time that the host needs if the share ``larger`` of them exceeds
    the captured graphs and ``ending`` sequences of each produce a token.
    """
    engine = pools.decode
    small, large = (engine.host_floor(tokens, ending) for tokens in (engine.most_in_graphs, inf))
    return prefill._replace(floor=prefill.steps * ((1 - larger) * small + larger * large))
