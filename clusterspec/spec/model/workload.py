"""The work as described: the model, and how it is trained or served."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.quantity import Quantity


@dataclass(frozen=True, slots=True)
class LatentAttentionSpec:
    """Widths of multi-head latent attention: query and key-value compression, rotary part."""

    q: int | None = None
    kv: int | None = None
    rope: int | None = None


@dataclass(frozen=True, slots=True)
class RoutingSpec:
    """Limits on where one token's experts may lie."""

    max_nodes: int | None = None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model described in place, or changes to a catalog entry (``base``)."""

    base: str | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    latent_attention: LatentAttentionSpec | None = None
    ffn_hidden: int | None = None
    vocab: int | None = None
    max_sequence_length: int | None = None
    gated_ffn: bool | None = None
    tied_embeddings: bool | None = None
    attention_window: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    expert_ffn_hidden: int | None = None
    shared_experts: int | None = None
    moe_layers: int | None = None
    routing: RoutingSpec | None = None


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """The work planned on the machine."""

    kind: str | None = None
    model: str | ModelSpec | None = None
    sequence_length: int | None = None
    global_batch: int | None = None
    precision: str | None = None
    parameter_precision: str | None = None
    gradient_precision: str | None = None
    optimizer: str | None = None
    attention: str | None = None
    data_loading: str | Quantity | None = None
    tokens: Quantity | None = None
    peak_flops: Quantity | None = None
    expected_mfu: float | None = None
