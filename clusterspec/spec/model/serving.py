"""The serving workload as written: requests and engines."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SpeculativeSpec:
    """Speculative decoding: tokens drafted for each step, and the share of them that is accepted."""

    tokens: int | None = None
    acceptance: float | None = None


@dataclass(frozen=True, slots=True)
class TargetsSpec:
    """Latency targets in seconds, and the percentile of requests that must meet them."""

    ttft: Quantity | None = None
    tpot: Quantity | None = None
    percentile: float | None = None


@dataclass(frozen=True, slots=True)
class EnginesSpec:
    """The engines of one side of disaggregated serving; the degrees count ranks of one engine."""

    replicas: int | None = None
    tp: int | None = None
    attention_dp: int | None = None
    ep: int | None = None
    pp: int | None = None


@dataclass(frozen=True, slots=True)
class DisaggregatedSpec:
    """Separate engines for prefill and decode."""

    prefill: EnginesSpec | None = None
    decode: EnginesSpec | None = None


@dataclass(frozen=True, slots=True)
class ServingSpec:
    """The requests: lengths in tokens, concurrency or arrival rate, and engine options."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    concurrency: int | None = None
    request_rate: float | None = None
    load: str | None = None
    requests: int | None = None
    redundant_experts: int | None = None
    prefix_hit: float | None = None
    speculative: SpeculativeSpec | None = None
    targets: TargetsSpec | None = None
    chunk_tokens: int | None = None
    max_sequences: int | None = None
    memory_fraction: float | None = None
    captured_graphs: bool | None = None
    disaggregated: DisaggregatedSpec | None = None
