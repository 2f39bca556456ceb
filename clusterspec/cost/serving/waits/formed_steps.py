"""The step that an engine formed before a prompt came, for which the prompt waits."""

from __future__ import annotations

from math import expm1, inf

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_of_step
from clusterspec.cost.serving.waits.carried import LEAST_PROMPTS, share_beyond_graphs, share_of_steps_with_arrivals
from clusterspec.cost.serving.waits.held_prompts import steps_until_release
from clusterspec.cost.serving.waits.prompts import steps_of_prompts
from clusterspec.cost.serving.waits.replica import lead_of_replicas, starts_prompts_at_any_time
from clusterspec.cost.serving.waits.replicas import runs_in_cycles
from clusterspec.cost.serving.waits.running_steps import lead_of_launch

Launches = tuple[tuple[float, float], ...]
"""Shares of the steps with prompts, each with the seconds in which the host launches such a step."""


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
        alone = _launches_of_several(pools, prompts / taken, 0.0)
        return present * _wait_for_formed_step(pools, (decode.total, each / prefill.steps), alone, taken / (1 + taken))
    if starts_prompts_at_any_time(pools):
        prompts *= load.tokens_per_step
        return present * lead_of_replicas(pools, prompts / (decode.total + prompts * carried), steps)
    every, ranks = steps_until_release(pools, prompts), unevenly_loaded_ranks(engine)
    mixed = -expm1(-prompts * prefill.steps * every * ranks) / every
    launches: Launches = ((1.0, prefill.floor / prefill.steps),)
    longer = prefill.total / prefill.steps
    if prefill.steps == 1 and prompts >= LEAST_PROMPTS:
        if ranks == 1 and not looped and carried and prompts_of_step(pools, sequences) > 1:
            mixed = share_of_steps_with_arrivals(
                (prompts, decode.total),
                pools.engines_of_choice,
                lambda share: prompts * carried / engine.layout.pp / share,
            )
        several = min(prompts / mixed, prompts_of_step(pools, sequences))
        if ranks == 1:
            launches = _launches_of_several(pools, several, sequences)
        else:
            larger = share_beyond_graphs(pools, prompts, sequences, ranks)
            launches = _launches_by_size(pools, larger, sequences + max(1.0, several))
        longer = decode.total + prompts * carried / engine.layout.pp / mixed
    return present * _wait_for_formed_step(pools, (decode.total, longer), launches, mixed)


def _wait_for_formed_step(pools: Pools, steps: tuple[float, float], launches: Launches, mixed: float) -> float:
    """Mean seconds of the step that was formed before a prompt came, as far as the host had not to launch it first; 0
    if the engine forms a step at the end of the one before. ``steps`` holds the seconds of a step without prompts and
    of one with them; the share ``mixed`` of all steps are prompt steps.

    The prompt runs after that step. While it runs the host launches the step of the prompt. Steps beyond the captured
    graphs, which many sequences make, follow their like: each kind of ``launches`` has a lead of its own.
    """
    if not pools.decode.runs_ahead:
        return 0.0
    share, (plain, longer) = min(1.0, mixed), steps
    found = sum(part * lead_of_launch(share, plain, longer, launching) for part, launching in launches)
    return found / pools.load.receive_interval  # the wait for a reception holds such a step


def _launches_of_several(pools: Pools, several: float, decoded: float) -> Launches:
    """The launches of steps with ``several`` prompts on average and ``decoded`` sequences.

    A Poisson number that is not 0 has the mean ``several``; without that condition it is twice as much above 1, or
    nearly ``several`` where that is large.
    """
    drawn = max(LEAST_PROMPTS, min(several, 2 * (several - 1)))
    return _launches_by_size(pools, share_beyond_graphs(pools, drawn, decoded), decoded + several)


def _launches_by_size(pools: Pools, larger: float, ending: float) -> Launches:
    """The launches of steps of which the share ``larger`` exceeds the captured graphs and ``ending`` sequences of each
    produce a token.
    """
    engine = pools.decode
    return (1 - larger, engine.host_floor(engine.most_in_graphs, ending)), (larger, engine.host_floor(inf, ending))
