"""The parallel layout, as written."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True)
class OffloadSpec:
    """Fractions, from 0 to 1, that are offloaded to host memory."""

    optimizer: float | None = None
    activations: float | None = None


@dataclass(frozen=True)
class OptimizerStatesSpec:
    """Precision of the master weights and of the moments."""

    master: str | None = None
    moments: str | None = None


@dataclass(frozen=True)
class OverlapSpec:
    """The communication that may overlap with computation; for tp also a keyword or a fraction."""

    tp: str | bool | float | None = None
    cp: bool | None = None
    ep: bool | None = None
    dp: bool | None = None
    pp: bool | None = None


@dataclass(frozen=True)
class DispatcherSpec:
    """The token dispatcher of experts and the precision of its messages."""

    kind: str | None = None
    precision: str | None = None


@dataclass(frozen=True)
class LayoutSpec:
    """The degrees of parallelism in ranks, and framework options."""

    framework: str | None = None
    software_year: int | None = None
    software: str | None = None
    nodes: int | None = None
    nodes_per_domain: int | None = None
    tp: int | None = None
    sequence_parallel: bool | None = None
    attention_dp: int | None = None
    cp: int | None = None
    cp_method: str | None = None
    ep: int | None = None
    expert_tp: int | None = None
    dispatcher: str | DispatcherSpec | None = None
    pp: int | None = None
    stage_layers: tuple[int, ...] | None = None
    dp: int | None = None
    sharding: str | None = None
    shard_group: int | None = None
    order: tuple[str, ...] | None = None
    schedule: str | None = None
    virtual_stages: int | None = None
    micro_batch: int | None = None
    recompute: str | tuple[str, ...] | None = None
    offload: OffloadSpec | None = None
    optimizer_states: OptimizerStatesSpec | None = None
    capacity_factor: int | float | None = None
    gradient_compression: int | float | None = None
    gradient_sync: str | None = None
    fused_kernels: bool | None = None
    captured_graphs: bool | None = None
    loss: str | None = None
    overlap: OverlapSpec | None = None
