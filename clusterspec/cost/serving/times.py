"""Times of a serving plan: to the first token, for each output token, and output tokens a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clusterspec.cluster.model import Design, Layout, Serving
from clusterspec.cluster.stages import of_engines
from clusterspec.cost.formulas.serving import (
    output_rate,
    prompt_wait,
    queue_wait,
    request_time,
    time_per_output_token,
    time_to_first_token,
)
from clusterspec.cost.serving import constants as known
from clusterspec.cost.serving.engine import Engine, StepTime
from clusterspec.precision import rate
from clusterspec.records import dataclass, replace

MOST_SEQUENCES = 1024
"""Sequences of one step of an attention rank, at most, where the spec states none: the default of vLLM since 0.9."""
ROUNDS = 24
"""Steps of the fixed point between the time of a token and the requests in flight."""


@dataclass(frozen=True, slots=True)
class ServingTimes:
    """Seconds, bytes and tokens of a serving plan. ``decode`` and ``prefill`` are the steps of one engine that the
    times are made of, ``sequences`` those in flight on one attention rank. Throughput is of the whole plan."""

    ttft: float
    tpot: float
    ttft_mean: float
    tpot_mean: float
    request_latency: float
    output_tokens_per_second: float
    accelerators: float
    kv_bytes_per_token: float
    kv_capacity_tokens: float
    kv_capacity_sequences: float
    max_concurrency: float | None
    prefill_share: float
    sequences: float
    decode: StepTime
    prefill: StepTime
    prompt_time: float
    wait: float
    carried: float
    """Sequences of one attention rank, as the time of an output token counts them."""
    output_tokens: float
    carried_prefill: float
    """Seconds of a prompt that the steps of the same engine carry."""
    tokens_per_step: float
    offered: float
    """Requests in flight on the whole plan, waiting ones among them."""
    started: float
    """The time of an output token of which half passes before a prompt starts."""

    @property
    def per_accelerator(self) -> float:
        """Output tokens a second of one accelerator used."""
        return self.output_tokens_per_second / self.accelerators


def serving(design: Design) -> ServingTimes | None:
    """The times of a serving plan; None where the design is none, or its chip has no peak for the work."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.serving is None:
        return None
    load = workload.serving
    engine = _engine(design, layout, layout.dp)
    if engine is None:
        return None
    prompts = engine
    if load.prefill is not None:
        other = _engine(design, of_engines(layout, load.prefill, workload.model.layers), load.prefill.replicas)
        assert other is not None
        prompts = other
    return _times(engine, prompts, load, _places(engine, load))


def _engine(design: Design, layout: Layout, replicas: int) -> Engine | None:
    cluster, workload = design.cluster, design.workload
    assert cluster is not None and workload is not None
    chip, ranks = cluster.accelerator, cluster.ranks_per_accelerator
    peaks = {name: peak.value for name, peak in chip.peaks.items()}
    wide = peaks.get("bf16") or peaks.get("fp16")
    name = rate(workload.precision, peaks)
    peak = workload.peak.value if workload.peak else peaks.get(name) if name else None
    if chip.memory_bandwidth is None or wide is None:
        return None
    return Engine(
        cluster, workload, layout, replicas, chip.memory_bandwidth.value / ranks, (peak or wide) / ranks, wide / ranks
    )


def _places(engine: Engine, load: Serving) -> tuple[float, float]:
    """Tokens and requests that the cache of one attention rank has space for."""
    memory = engine.cluster.accelerator.memory
    capacity = memory.value * load.memory_fraction / engine.cluster.ranks_per_accelerator if memory else 0.0
    free = max(0.0, capacity - known.RESERVED.value - engine.weight_bytes / engine.layout.pp)
    mean = load.input_tokens + load.output_tokens * (1.0 if load.load == "static" else 0.5)
    each = engine.sequence_bytes(mean) / engine.layout.pp
    requests = max(1.0, free / each) if each else float(MOST_SEQUENCES)
    return requests * mean, requests


def _times(engine: Engine, prompts: Engine, load: Serving, places: tuple[float, float]) -> ServingTimes:
    tokens, requests = places
    attention_ranks = engine.replicas * engine.layout.attention_dp
    limit = min(requests, float(load.max_sequences or MOST_SEQUENCES))
    offered = _offered(engine, prompts, load, limit, attention_ranks)
    sequences = max(min(offered / attention_ranks, limit), min(1.0, offered / attention_ranks), 1e-9)
    carried = max(1.0, sequences)
    steady = _steady(engine, prompts, load, carried)
    prompt, tpot = steady.prompt, steady.tpot
    wait = queue_wait(offered, limit * attention_ranks, load.output_tokens, tpot) if load.load != "offline" else 0.0
    if load.load in {"closed", "open"}:
        wait += _prompt_wait(prompts, engine, load, offered, steady)
    if load.load == "static":
        prompt = _prompt_time(prompts, load, carried)[1]
    started = 0.0 if load.load == "static" else tpot
    ttft = time_to_first_token(wait, prompt, started)
    burst = known.BURST.value * offered / attention_ranks * steady.prefill.total if load.requests else 0.0
    latency = request_time(ttft, load.output_tokens, tpot)
    return ServingTimes(
        ttft=ttft,
        tpot=tpot,
        ttft_mean=ttft + burst,
        tpot_mean=tpot,
        request_latency=latency,
        output_tokens_per_second=output_rate(offered, load.output_tokens, latency),
        accelerators=_accelerators(engine, prompts),
        kv_bytes_per_token=_bytes_per_token(engine),
        kv_capacity_tokens=tokens * attention_ranks,
        kv_capacity_sequences=requests * attention_ranks,
        max_concurrency=_most(engine, prompts, load, limit, attention_ranks),
        prefill_share=steady.share,
        sequences=sequences,
        decode=steady.decode,
        prefill=steady.prefill,
        prompt_time=prompt,
        wait=wait,
        carried=carried,
        output_tokens=float(load.output_tokens),
        carried_prefill=steady.carried,
        tokens_per_step=steady.tokens_per_step,
        offered=offered,
        started=started,
    )


def _prompt_wait(prompts: Engine, engine: Engine, load: Serving, offered: float, now: Steady) -> float:
    """The wait of a prompt for the others of its rank.

    In an engine that decodes too, those that its share of the time leaves; in an engine of its own, those that a
    closed loop of requests sends: where prompts limit the loop, all requests but those that decode wait for them.
    """
    prompt = now.prefill.device
    if prompts is engine:
        return prompt_wait(min(now.share, known.MOST_LOAD), prompt)
    ranks = prompts.replicas * prompts.layout.attention_dp
    decoding = (load.output_tokens - 1) * now.tpot
    busy = min(offered * prompt / (prompt + decoding) / ranks, known.MOST_LOAD)
    return max(prompt_wait(busy, prompt), offered * prompt / ranks - prompt - decoding)


def _accelerators(engine: Engine, prompts: Engine) -> float:
    pools = (engine,) if prompts is engine else (engine, prompts)
    ranks = sum(pool.replicas * pool.ranks * pool.layout.pp for pool in pools)
    return ranks / engine.cluster.ranks_per_accelerator


def _bytes_per_token(engine: Engine) -> float:
    """Bytes of cache that one more token takes over the whole model, no matter how ranks divide it."""
    whole = replace(engine, layout=replace(engine.layout, tp=1))
    return whole.sequence_bytes(200_001.0) - whole.sequence_bytes(200_000.0)


def _prompt_time(prompts: Engine, load: Serving, count: float = 1.0) -> tuple[StepTime, float]:
    """The step of one prompt (of ``count`` at once), and the seconds until it is through."""
    fresh = load.input_tokens * (1 - load.prefix_hit)
    step = prompts.prefill(count * fresh, float(load.input_tokens))
    return step, max(step.total, prompts.prefill_floor())


class Steady(NamedTuple):
    """The steady state of an engine: a decode step, the step of a prompt and its seconds, and what they come to."""

    decode: StepTime
    prefill: StepTime
    prompt: float
    carried: float
    """Seconds of a prompt that the decode steps of the same engine carry."""
    tokens_per_step: float
    tpot: float
    share: float
    """The share of the engine's time that prompts take."""


def _steady(engine: Engine, prompts: Engine, load: Serving, sequences: float) -> Steady:
    context = load.input_tokens + load.output_tokens / 2
    decode = engine.decode(max(1.0, sequences / engine.layout.pp), context)
    prefill, prompt = _prompt_time(prompts, load)
    carried = 0.0 if prompts is not engine or load.load == "static" else prefill.device
    gained = 1 + load.draft_tokens * load.draft_acceptance
    tpot = time_per_output_token(decode.total, sequences, load.output_tokens, carried, tokens_per_step=gained)
    share = sequences / load.output_tokens * carried / gained / tpot
    return Steady(decode, prefill, prompt, carried, gained, tpot, share)


def _offered(engine: Engine, prompts: Engine, load: Serving, limit: float, ranks: int) -> float:
    """Requests in flight on the whole plan: as stated, as the rate of requests keeps there, or all that fit."""
    if load.concurrency is not None:
        return float(load.concurrency)
    if load.request_rate is None:
        return limit * ranks
    found = 1.0
    for _ in range(ROUNDS):
        now = _steady(engine, prompts, load, max(1.0, min(found / ranks, limit)))
        latency = request_time(time_to_first_token(0.0, now.prompt, now.tpot), load.output_tokens, now.tpot)
        found = min(load.request_rate * latency, 4 * limit * ranks)
    return found


def _most(engine: Engine, prompts: Engine, load: Serving, limit: float, ranks: int) -> float | None:
    """Requests in flight up to which the targets are met; those that the cache holds where there is no target."""
    if load.tpot_target is None and load.ttft_target is None:
        return limit * ranks

    def met(sequences: float) -> bool:
        now = _steady(engine, prompts, load, max(1.0, sequences))
        first = time_to_first_token(0.0, now.prompt, now.tpot)
        slow = load.tpot_target is not None and now.tpot > load.tpot_target
        return not slow and not (load.ttft_target is not None and first > load.ttft_target)

    return _bisected(met, limit) * ranks


def _bisected(met: Callable[[float], bool], limit: float) -> float:
    """The most sequences up to ``limit`` that meet a condition; 0 where one does not."""
    if not met(1.0):
        return 0.0
    if met(limit):
        return limit
    low, high = 1.0, limit
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if met(middle) else (low, middle)
    return low
