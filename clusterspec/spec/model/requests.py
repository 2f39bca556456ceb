"""Serving and reinforcement learning as written: requests, engines, samples and roles."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.spec.model.workload import LengthsSpec

# The serving workload as written: requests and engines


@dataclass(frozen=True)
class SpeculativeSpec:
    """Speculative decoding: tokens drafted for each step, the acceptance rate, and the source of the drafts."""

    tokens: int | None = None
    acceptance: float | None = None
    method: str | None = None


@dataclass(frozen=True)
class TracedLengthsSpec(LengthsSpec):
    """A distribution of lengths of requests, or the file ``trace`` that has them."""

    trace: str | None = None


@dataclass(frozen=True)
class ArrivalsSpec:
    """The process by which requests arrive, or a trace of them."""

    process: str | None = None
    cv: float | None = None
    trace: str | None = None


@dataclass(frozen=True)
class SessionSpec:
    """Conversations of several requests, where each prompt repeats all earlier tokens; lengths are in tokens."""

    turns: int | None = None
    think_time: Quantity | None = None
    growth: int | None = None
    shared_prefix: int | None = None


@dataclass(frozen=True)
class CacheTierSpec:
    """Memory below the accelerator's that keeps caches of ended requests."""

    medium: str | None = None
    capacity: Quantity | None = None
    read: Quantity | None = None
    write: Quantity | None = None
    scope: str | None = None
    writes_per_day: float | None = None


@dataclass(frozen=True)
class TargetsSpec:
    """Latency targets: times, which hold at ``percentile``, or times by percentile (``p99``)."""

    ttft: Quantity | dict[str, Quantity] | None = None
    tpot: Quantity | dict[str, Quantity] | None = None
    itl: Quantity | dict[str, Quantity] | None = None
    end_to_end: Quantity | dict[str, Quantity] | None = None
    percentile: float | None = None


@dataclass(frozen=True)
class EnginesSpec:
    """The engines of one side of disaggregated serving; the degrees count ranks of one engine."""

    pool: str | None = None
    replicas: int | None = None
    tp: int | None = None
    attention_dp: int | None = None
    ep: int | None = None
    pp: int | None = None


@dataclass(frozen=True)
class ExpertLoadSpec:
    """How uneven experts are: by a law, by the load of the fullest rank, or by counts."""

    law: str | None = None
    alpha: float | None = None
    max_over_mean: float | None = None
    counts: tuple[float, ...] | None = None
    placement: str | None = None


@dataclass(frozen=True)
class DayHoursSpec:
    """Hours of a day with a request rate of their own: from and to as ``HH:MM``."""

    starts: str | None = None
    to: str | None = None
    request_rate: float | None = None


@dataclass(frozen=True)
class ScalingSpec:
    """How engines follow the load of a day."""

    cold_start: Quantity | None = None
    ahead: Quantity | None = None
    min_replicas: int | None = None


@dataclass(frozen=True)
class TransferSpec:
    """How the cache of a prompt reaches its decode engine; the bandwidth is per accelerator."""

    send: str | None = None
    block_tokens: int | None = None
    bandwidth: Quantity | None = None
    first_token: str | None = None


@dataclass(frozen=True)
class DisaggregatedSpec:
    """Separate engines for prefill and decode."""

    prefill: EnginesSpec | None = None
    decode: EnginesSpec | None = None
    transfer: TransferSpec | None = None


@dataclass(frozen=True)
class ServingSpec:
    """The requests: lengths in tokens, concurrency or arrival rate, and engine options."""

    input_tokens: int | TracedLengthsSpec | None = None
    output_tokens: int | TracedLengthsSpec | None = None
    concurrency: int | None = None
    request_rate: float | None = None
    arrivals: ArrivalsSpec | None = None
    day: tuple[DayHoursSpec, ...] | None = None
    scaling: ScalingSpec | None = None
    load: str | None = None
    requests: int | None = None
    redundant_experts: int | None = None
    expert_load: str | ExpertLoadSpec | None = None
    prefix_hit: float | None = None
    session: SessionSpec | None = None
    cache_tiers: tuple[CacheTierSpec, ...] | None = None
    speculative: SpeculativeSpec | None = None
    targets: TargetsSpec | None = None
    chunk_tokens: int | None = None
    max_sequences: int | None = None
    memory_fraction: float | None = None
    captured_graphs: bool | None = None
    receive_interval: int | None = None
    hold_steps: int | None = None
    disaggregated: DisaggregatedSpec | None = None


# Reinforcement learning as written: samples, roles and their placement


@dataclass(frozen=True)
class RolloutSpec:
    """The engines that generate samples: their nodes and degrees in ranks, and engine options."""

    pool: str | None = None
    nodes: int | None = None
    framework: str | None = None
    software: str | None = None
    tp: int | None = None
    attention_dp: int | None = None
    ep: int | None = None
    pp: int | None = None
    memory_fraction: float | None = None
    max_sequences: int | None = None
    parameter_precision: str | None = None
    kv_precision: str | None = None
    captured_graphs: bool | None = None


@dataclass(frozen=True)
class RoleSpec:
    """A model in addition to the trained one. It has separate nodes, or shares those of the trainer and may be kept in
    host memory between uses.
    """

    pool: str | None = None
    model: str | None = None
    nodes: int | None = None
    offload: bool | None = None


@dataclass(frozen=True)
class WeightSyncSpec:
    """How new weights reach the engines: the path, the precision sent, and the bytes sent at a time."""

    method: str | None = None
    precision: str | None = None
    bucket: Quantity | None = None
    ranks: str | None = None
    gather: str | None = None
    load: str | None = None
    requests: str | None = None


@dataclass(frozen=True)
class RlSpec:
    """Reinforcement learning: the samples of one step, and the roles that generate, judge and train on them."""

    algorithm: str | None = None
    prompts_per_step: int | None = None
    samples_per_prompt: int | None = None
    input_tokens: int | TracedLengthsSpec | None = None
    output_tokens: int | TracedLengthsSpec | None = None
    turns: int | None = None
    environment_time: Quantity | None = None
    minibatches: int | None = None
    epochs: int | None = None
    log_probabilities: str | None = None
    max_staleness: int | None = None
    batches_in_flight: float | None = None
    placement: str | None = None
    rollout: RolloutSpec | None = None
    reference: RoleSpec | None = None
    critic: RoleSpec | None = None
    reward: RoleSpec | None = None
    weight_sync: WeightSyncSpec | None = None
