"""Waits of the prompts of an open load on attention replicas that run either prompts or decode."""

from __future__ import annotations

from clusterspec.cost.formulas.queues import steps_wait
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.waits.prompts import variation_seconds
from clusterspec.cost.serving.waits.receptions import Reception, reception_at
from clusterspec.cost.serving.waits.replica_steps import ReplicaSteps, steps_at_rate


def starts_prompts_at_any_time(pools: Pools) -> bool:
    """Whether prompts of an open load start on attention replicas with the step after their arrival, whether the
    replica decodes or not: without drafts, held prompts or a receive interval.

    Source: SGLang, python/sglang/srt/managers/scheduler.py (get_next_batch_to_run): prompts come before decoding, on
    each replica by itself; scheduler_dp_attn_mixin.py (prepare_mlp_sync_batch_raw): the batches of all replicas then
    form one step, with empty ones for those that have no work.
    """
    return pools.load.receive_interval == 1 and starts_prompts_once_received(pools)


def starts_prompts_once_received(pools: Pools) -> bool:
    """`starts_prompts_at_any_time`, of the requests that such an engine has received, whatever its interval."""
    load, engine = pools.load, pools.decode
    replicas = engine.has_prompt_only_replicas and unevenly_loaded_ranks(engine) > 1
    at_once = load.hold_steps == 1 and not load.draft_tokens and load.output_tokens > 1
    return at_once and replicas and load.load == "open" and not pools.has_prefill_engines


def lead_of_replicas(pools: Pools, rate: float, steps: tuple[StepTime, StepTime]) -> float:
    """Mean seconds of the step that is formed before a prompt comes: a whole decode step, or the lead of a step with
    prompts. ``rate`` prompts come per second and replica.
    """
    return _lead_at_arrival(steps_at_rate(pools, rate, steps))


def _lead_at_arrival(found: ReplicaSteps) -> float:
    """Mean seconds of the step that was formed before a prompt came, which comes at any moment of the steps."""
    share = found.prompt_step_share * found.longer / found.mean
    return share * found.lead + (1 - share) * found.plain if found.lead is not None else 0.0


def wait_of_replicas(
    pools: Pools, arriving: tuple[float, float], steps: tuple[StepTime, StepTime], prompt: float
) -> float:
    """Mean seconds by which a prompt takes longer than the ``prompt`` seconds that it takes alone, if it finds other
    requests: for the rest of the running step, for earlier prompts of its replica, and for the replica with the most
    prompts in each of its steps. ``arriving`` holds the prompts that come per replica and second, and per replica in a
    decode step.
    """
    found = steps_at_rate(pools, arriving[0], steps)
    varying = variation_seconds(pools, _used_share(found, arriving[0]), found.longer / found.most)
    return _wait_in_steps(found, arriving, steps[1], prompt) + varying


def _used_share(found: ReplicaSteps, rate: float) -> float:
    """The share of the room for prompts that ``rate`` prompts per second and replica take."""
    return min(constants.MOST_LOAD, rate * found.longer / found.most)


def _wait_in_steps(found: ReplicaSteps, arriving: tuple[float, float], alone: StepTime, prompt: float) -> float:
    """`wait_of_replicas` for prompts of equal length, of which one takes the steps ``alone``."""
    rate, ended = arriving
    used, whole = _used_share(found, rate), found.longer * max(1.0, found.chunks / 2)
    earlier = min(steps_wait(used, max(1.0, found.most), whole), ended / 2 * found.chunks * found.longer)
    launching, lead = alone.floor / alone.steps, _lead_at_arrival(found)
    own = max(found.device, launching - lead) + (found.chunks - 1) * found.longer
    others = max(0.0, own - prompt)
    return rest_of_step(found) + earlier + others


def wait_for_reception(pools: Pools, rate: float, steps: tuple[StepTime, StepTime], prompt: float) -> float:
    """`wait_of_replicas` of an engine that receives requests at intervals, at ``rate`` prompts per second and replica:
    all that came in an interval start together, a step after the last one in which they may come.
    """
    found, ahead = reception_at(pools, rate, steps), steps[0].total if pools.decode.runs_ahead else 0.0
    varying = variation_seconds(pools, rate * found.longer, found.longer)
    return ahead + _wait_once_received(found, steps[1], prompt) + varying


def _wait_once_received(found: Reception, alone: StepTime, prompt: float) -> float:
    """`wait_for_reception` for prompts of equal length, of which one takes the steps ``alone``, without the step that
    was formed before.
    """
    own = found.longer * (alone.steps if alone.steps > 1 else (found.number + 1) / 2)
    return found.wait + max(0.0, own - prompt)


def rest_of_step(found: ReplicaSteps) -> float:
    """Mean seconds of the rest of the step in which a prompt arrives, at any moment of it.

    >>> round(rest_of_step(ReplicaSteps(16, 1e-9, 0.02, 0.1, 1)), 6)
    0.01
    """
    squares = (
        1 - found.prompt_step_share
    ) * found.plain * found.plain + found.prompt_step_share * found.longer * found.longer
    return squares / (2 * found.mean)
