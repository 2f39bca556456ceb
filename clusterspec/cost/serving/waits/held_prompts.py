"""Prompts that an engine holds until each of its attention replicas has one."""

from __future__ import annotations

from math import expm1

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.compute import power
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools
from clusterspec.standard import sum_of

LEAST = 1e-12
"""The least prompts of a step."""


def steps_of_release(load: Serving, ranks: int, prompts: float) -> float:
    """Steps from one start of held prompts to the next, if ``prompts`` reach each of ``ranks`` replicas in a step; 1 if
    none are held.

    A prompt goes to the replica on which a request ended, and requests end at random times. All replicas have a prompt
    after the longest of ``ranks`` exponential times. Then they start together, after ``hold_steps`` at the latest, and
    at once where a replica decodes nothing.

    Source: TensorRT-LLM, tensorrt_llm/_torch/pyexecutor/py_executor.py (_balance_adp_requests): context requests are
    scheduled if all ranks have some, after ``timeout_iters`` iterations, or if not all have generation requests;
    SGLang, python/sglang/srt/managers/prefill_delayer.py.
    """
    if load.hold_steps == 1 or ranks == 1 or load.prefill is not None:
        return 1.0
    each = max(LEAST, prompts)
    some = -expm1(-each * load.hold_steps)
    found = sum_of([power(some, count) / count for count in range(1, ranks + 1)]) / each
    return 1.0 + max(0.0, found - 1.0) * -expm1(-prompts * load.gaps / load.tokens_per_step)


def steps_until_release(pools: Pools, prompts: float) -> float:
    """`steps_of_release` of the engines of a plan that decode."""
    return steps_of_release(pools.load, unevenly_loaded_ranks(pools.decode), prompts)


def wait_until_release(pools: Pools, step: float, prompts: float) -> float:
    """Seconds for which a prompt is held beyond the rest of the running step: half of the other steps of ``step``
    seconds until prompts start again.
    """
    return (steps_until_release(pools, prompts) - 1.0) / 2 * step
