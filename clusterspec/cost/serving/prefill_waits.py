"""Waits of a prompt on separate prefill engines: for the running step, a step formed ahead, and earlier prompts."""

from __future__ import annotations

from math import expm1

from clusterspec.cost.formulas.experts import prompts_on_fullest
from clusterspec.cost.formulas.queues import highest_load, prompt_wait, share_formed_ahead, wave_load
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.parts import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.waits import LEAST_SHARE, SHARED_ROUNDS, variation_seconds


def wait_behind_received(pools: Pools, unreceived: float, rate: float, service: float) -> float:
    """Seconds that a prompt of separate prefill engines waits for the prompts that its decode engine received with it.

    Those of twice the ``unreceived`` wait start at once, of ``rate`` requests per second on all decode engines. They
    are spread over the ranks that run prompts, for ``service`` seconds each; half of them are before it.
    """
    group = 2 * unreceived * rate / pools.decode.replicas
    return group / 2 * service / pools.prompts.attention_ranks


def separate_prompt_wait(pools: Pools, rate: float, each: tuple[float, float]) -> float:
    """Queueing time of a prompt on separate prefill engines, in seconds: the running step, a step formed ahead, and
    earlier prompts.

    ``rate`` prompts a second arrive; ``each`` has the seconds of a single prompt, and of one in a batched step. In a
    closed loop a request waits only for the other requests (the arrival theorem of Reiser and Lavenberg, J. ACM 27(2),
    1980), and in a finite run its prompts arrive in waves, at a higher rate.
    """
    prompt, service = each
    load, requests = pools.load, pools.load.concurrency
    used = rate * service / pools.prompts.attention_ranks
    if load.requests and 0 < used < 1:
        rate *= wave_load(used, constants.WAVE.value) / used
        used = wave_load(used, constants.WAVE.value)
    step, busy = _running_step(pools, rate, (prompt, service), used)
    longer = step - prompt + busy * _step_ahead_seconds(pools, rate, step)
    if requests is None:
        used = min(used, constants.MOST_LOAD)
        return longer + prompt_wait(used, service, busy, step) + variation_seconds(pools, used, service)
    others = (requests - 1) / requests
    most = highest_load(max(1.0, requests / pools.prompts.attention_ranks))
    return longer * others + prompt_wait(min(used * others, most), service, busy * others, step)


def _running_step(pools: Pools, rate: float, each: tuple[float, float], used: float) -> tuple[float, float]:
    """Seconds of a step of a prefill engine, and the probability that one runs when a prompt arrives."""
    prompt, service = each
    busy = min(1.0, used * prompt / service) if service else 0.0
    coupled = unevenly_loaded_ranks(pools.prompts)
    if coupled > 1:  # a step ends on all ranks of an engine at once
        step = _shared_step_seconds(pools, rate, prompt)
        return step, 1 - (1 - min(1.0, busy * step / prompt)) ** coupled
    if prompts_per_step(pools) > 1:
        step = _shared_step_seconds(pools, rate, prompt)
        return step, min(1.0, -expm1(-rate * step / pools.prompts.attention_ranks))
    return prompt, busy


def _step_ahead_seconds(pools: Pools, rate: float, step: float) -> float:
    """Seconds that a prompt waits for the step after the running one, of ``step`` seconds, if that step was formed
    before the prompt arrived. ``rate`` prompts per second arrive at all engines.

    Source: SGLang, python/sglang/srt/disaggregation/prefill.py at 000c2b942308 (event_loop_overlap_disagg_prefill):
    the scheduler forms and launches a step before it waits for the result of the one before it.
    """
    engine, load = pools.prompts, pools.load
    alone = prompts_per_step(pools) == 1 and unevenly_loaded_ranks(engine) == 1  # a formed step has no place left
    if alone or not engine.forms_steps_ahead:
        return 0.0
    fresh = max(1.0, load.fresh_tokens)
    formed = share_formed_ahead(rate / engine.replicas, min(step, engine.launch_floor(fresh)), step)
    return formed * step


def _shared_step_seconds(pools: Pools, rate: float, alone: float) -> float:
    """Seconds of a step of a prefill engine whose attention ranks wait for the rank with the most prompts.

    ``rate`` prompts per second arrive at all engines, and one prompt takes ``alone`` seconds. Prompts that arrive
    during a step run in the next step. The router counts the requests of each rank, running ones included, and sends
    new requests to the ranks with the fewest; such a rank then has up to twice the mean.
    """
    engine, load = pools.prompts, pools.load
    ranks = engine.layout.attention_dp
    fresh, length = load.fresh_tokens, float(load.input_tokens)
    if fresh > (load.chunk_tokens or fresh):
        return alone
    found = engine.prefill(prompts_per_step(pools) * fresh, length, float(ranks)).total
    for _ in range(SHARED_ROUNDS):  # from full steps: where both full and short ones last, fluctuations fill them
        mean = max(LEAST_SHARE, rate / engine.attention_ranks * found)
        drawn = prompts_on_fullest(mean, ranks) / -expm1(-mean * ranks)
        most = max(1.0, mean, min(prompts_per_step(pools), drawn, 2 * mean))
        before, found = found, engine.prefill(most * fresh, length, min(ranks, max(1.0, ranks * mean / most))).total
        if abs(found - before) < 1e-2 * before:
            break
    return max(alone, found)
