"""The workload as written: the model, and how it is trained or served."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.spec.model.requests import RlSpec, ServingSpec

# A language model as described in a spec


@dataclass(frozen=True)
class LatentAttentionSpec:
    """Widths of multi-head latent attention: query and key-value compression, rotary part."""

    q: int | None = None
    kv: int | None = None
    rope: int | None = None


@dataclass(frozen=True)
class AttentionWindowSpec:
    """Layers with sliding-window attention, and their differences from layers with full attention."""

    tokens: int | None = None
    layers: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    value_head_dim: int | None = None


@dataclass(frozen=True)
class LinearAttentionSpec:
    """Layers that mix tokens by linear attention or a state-space recurrence."""

    kind: str | None = None
    layers: int | None = None
    key_heads: int | None = None
    value_heads: int | None = None
    key_head_dim: int | None = None
    value_head_dim: int | None = None
    convolution: int | None = None
    gate_rank: int | None = None
    output_gate_rank: int | None = None


@dataclass(frozen=True)
class SparseAttentionSpec:
    """Attention to the keys selected by an index."""

    tokens: int | None = None
    layers: int | None = None
    index_heads: int | None = None
    index_dim: int | None = None


@dataclass(frozen=True)
class CompressedAttentionSpec:
    """Attention to compressed key-value entries, as in DeepSeek-V4."""

    q: int | None = None
    rope: int | None = None
    output_groups: int | None = None
    output_rank: int | None = None
    light_ratio: int | None = None
    light_layers: int | None = None
    heavy_ratio: int | None = None
    heavy_layers: int | None = None
    window: int | None = None


@dataclass(frozen=True)
class MultiTokenSpec:
    """Additional layers for multi-token prediction."""

    layers: int | None = None
    ffn: str | None = None


@dataclass(frozen=True)
class RoutingSpec:
    """Limits on the nodes that hold the experts of a token."""

    max_nodes: int | None = None


@dataclass(frozen=True)
class ModelSpec:
    """A model described in place, or changes to a catalog entry (``base``)."""

    base: str | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    value_head_dim: int | None = None
    attention_gate: str | None = None
    shared_kv: bool | None = None
    latent_attention: LatentAttentionSpec | None = None
    ffn_hidden: int | None = None
    vocab: int | None = None
    max_sequence_length: int | None = None
    gated_ffn: bool | None = None
    tied_embeddings: bool | None = None
    attention_window: int | AttentionWindowSpec | None = None
    attention_layers: int | None = None
    ffn_layers: int | None = None
    linear_attention: LinearAttentionSpec | None = None
    sparse_attention: SparseAttentionSpec | None = None
    compressed_attention: CompressedAttentionSpec | None = None
    multi_token_prediction: MultiTokenSpec | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    expert_ffn_hidden: int | None = None
    expert_latent: int | None = None
    shared_experts: int | None = None
    shared_expert_ffn_hidden: int | None = None
    moe_layers: int | None = None
    routing: RoutingSpec | None = None


# The workload as written: the model, and how it is trained or served


@dataclass(frozen=True)
class LengthsSpec:
    """A distribution of lengths in tokens: log-normal, cut at ``max``."""

    mean: int | None = None
    p99: int | None = None
    max: int | None = None


@dataclass(frozen=True)
class TrainableSpec:
    """The weights that training changes: all of them, or low-rank adapters of some modules."""

    method: str | None = None
    rank: int | None = None
    modules: tuple[str, ...] | None = None
    precision: str | None = None
    autocast: bool | None = None


@dataclass(frozen=True)
class WideLayersSpec:
    """The first and last layers that multiply in 16 bits while the others use fewer."""

    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class WorkloadSpec:
    """The workload planned on the machine."""

    kind: str | None = None
    model: str | ModelSpec | None = None
    sequence_length: int | None = None
    document_tokens: int | LengthsSpec | None = None
    global_batch: int | None = None
    trainable: TrainableSpec | None = None
    predicted_layers: int | None = None
    precision: str | None = None
    bf16_layers: WideLayersSpec | None = None
    parameter_precision: str | None = None
    expert_parameter_precision: str | None = None
    kv_precision: str | None = None
    gradient_precision: str | None = None
    residual_precision: str | None = None
    recipe: str | None = None
    quantization: str | None = None
    optimizer: str | None = None
    attention: str | None = None
    data_loading: str | Quantity | None = None
    tokens: Quantity | None = None
    dataset_tokens: Quantity | None = None
    dataset_files: Quantity | None = None
    dataset_token_bytes: int | float | None = None
    loss_scaling: str | None = None
    peak_flops: Quantity | None = None
    expected_mfu: float | None = None
    serving: ServingSpec | None = None
    rl: RlSpec | None = None

    @property
    def implied_kind(self) -> str | None:
        """The stated kind of work, else the kind implied by a section on serving or reinforcement learning; None if
        there is neither.
        """
        if self.kind is None:
            return "rl" if self.rl is not None else "serve" if self.serving is not None else None
        return self.kind
