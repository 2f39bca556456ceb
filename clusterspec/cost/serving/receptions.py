"""Prompts of attention replicas whose engine receives requests after every few decode steps."""

from __future__ import annotations

from math import expm1

from clusterspec.cost.formulas.experts import prompts_on_fullest, steps_of_fullest
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.replica_steps import seconds_of_step
from clusterspec.cost.serving.waits import step_ahead

ROUNDS = 12
"""Iterations for the prompts that come in an open load, which depend on the seconds between decode steps."""
CLOSE = 1e-9
"""The relative change of these seconds at the end."""
MOST_FOLLOWED = 0.95
"""The highest probability that a step with prompts is followed by another one."""
LEAST = 1e-12
"""The least prompts of a reception."""


def carried_after_receptions(pools: Pools, prompts: float, steps: tuple[StepTime, StepTime], *, follow: bool) -> float:
    """Seconds that one prompt adds to the decode steps of a replica whose engine receives requests at intervals.

    ``prompts`` begin on each replica per decode step. All that come in the decode steps of an interval are received
    together and share the next step, in which replicas without prompts decode (with drafted tokens, none does). After a
    step with prompts the engine receives again. Further steps have the prompts that arrived during that step: at the
    rate of arrivals with ``follow``, else one for each request that ended on a decoding replica. Then the next interval
    begins.

    Source: SGLang, python/sglang/srt/managers/scheduler_recv_skipper.py: with attention replicas, a step counts as one
    with prompts if any replica has some, so that all replicas receive together.
    """
    decode, _ = steps
    between = decode.total
    for _ in range(ROUNDS if follow else 1):
        found = _seconds_between(pools, (prompts, between), steps, follow=follow)
        if abs(found - between) < CLOSE * found:
            break
        between = found
    return max(0.0, found - decode.total) / prompts


def _seconds_between(
    pools: Pools, arriving: tuple[float, float], steps: tuple[StepTime, StepTime], *, follow: bool
) -> float:
    """Mean seconds between the ends of two steps in which a replica decodes; ``arriving`` prompts reach it between two
    such steps.
    """
    (prompts, seconds), decode = arriving, steps[0]
    ranks, interval = float(pools.decode.layout.attention_dp), pools.load.receive_interval
    received = prompts * interval * (decode.total / seconds if follow else 1.0)
    some = -expm1(-ranks * max(LEAST, received))
    count, own, longer = _steps_of(pools, received, steps)
    others = 0.0 if pools.load.draft_tokens else 1.0 - own
    meanwhile = prompts * (longer / seconds if follow else others)
    further, own_further, longer_further = _steps_of(pools, meanwhile, steps)
    others_further = 0.0 if pools.load.draft_tokens else 1.0 - own_further
    followed = min(MOST_FOLLOWED, -expm1(-ranks * meanwhile) * further) if meanwhile > LEAST else 0.0
    after = count * followed / (1.0 - followed)
    cycle = interval * decode.total + some * (count * longer + after * longer_further)
    decoded = interval + some * (count * others + after * others_further)
    return cycle / decoded


def _steps_of(pools: Pools, each: float, steps: tuple[StepTime, StepTime]) -> tuple[float, float, float]:
    """The steps that run the prompts of a reception with any, ``each`` on a replica on average: their number, the share
    of replicas with prompts in one of them, and its seconds.
    """
    ranks, most, prefill = pools.decode.layout.attention_dp, prompts_per_step(pools), steps[1]
    each = max(LEAST, each)
    some = -expm1(-each * ranks)
    count = max(1.0, steps_of_fullest(each, ranks, int(most)) / some) * prefill.steps
    own = min(1.0, max(-expm1(-each) / some, each / some / most) * prefill.steps / count)
    ahead = step_ahead(pools, steps, 0.0)
    if prefill.steps > 1:
        return count, own, prefill.lasting_after(ahead) / prefill.steps
    fullest = max(1.0, min(prompts_on_fullest(each, ranks) / some / count, most))
    return count, own, seconds_of_step(pools, fullest, ranks * each / some / count, ahead)
