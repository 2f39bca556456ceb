"""The catalog entry of a language model."""

from __future__ import annotations

from clusterspec.catalog.architecture import (
    CompressedAttention,
    LinearAttention,
    SparseAttention,
    TokenPrediction,
    Window,
)
from clusterspec.catalog.entry import Entry
from clusterspec.quantity import Figure
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Model(Entry):
    """A language model. Counts are plain integers; widths in elements; ``parameters`` as published.

    ``heads`` to ``value_head_dim`` are those of layers with full attention. ``stated_attention_layers``
    is None if all layers without linear attention have softmax attention, ``stated_ffn_layers`` if all
    layers have a feed-forward network. ``parameters`` includes multi-token prediction modules if
    ``parameters_with_prediction``, and the ``encoder_parameters``, which the entry does not describe.
    """

    layers: int = 0
    hidden: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    value_head_dim: int = 0
    attention_gate: str = "none"
    shared_kv: bool = False
    ffn_hidden: int = 0
    vocab: int = 0
    max_sequence_length: int | None = None
    gated_ffn: bool = False
    tied_embeddings: bool = False
    learned_positions: bool = False
    latent_q: int = 0
    latent_kv: int = 0
    latent_rope: int = 0
    stated_attention_layers: int | None = None
    stated_ffn_layers: int | None = None
    window: Window | None = None
    linear: LinearAttention | None = None
    sparse: SparseAttention | None = None
    compressed: CompressedAttention | None = None
    prediction: TokenPrediction | None = None
    experts: int = 0
    experts_per_token: int = 0
    expert_ffn_hidden: int = 0
    expert_latent: int = 0
    shared_experts: int = 0
    shared_expert_ffn_hidden: int = 0
    moe_layers: int = 0
    routing_max_nodes: int | None = None
    parameters: Figure | None = None
    parameters_with_prediction: bool = False
    encoder_parameters: Figure | None = None
    active_parameters: Figure | None = None
    year: int | None = None

    @property
    def latent(self) -> bool:
        """Whether attention is multi-head latent attention."""
        return self.latent_kv > 0

    @property
    def value_width(self) -> int:
        """The width of a value of one head; by default that of a key."""
        return self.value_head_dim or self.head_dim

    @property
    def ffn_matrices(self) -> int:
        """The matrices of a feed-forward network: three if it is gated, else two."""
        return 3 if self.gated_ffn else 2

    @property
    def expert_width(self) -> int:
        """The input and output width of routed experts."""
        return self.expert_latent or self.hidden

    @property
    def shared_width(self) -> int:
        """The total FFN width of the shared experts of a layer."""
        return self.shared_experts * (self.shared_expert_ffn_hidden or self.expert_ffn_hidden)

    @property
    def linear_layers(self) -> int:
        """The number of layers with linear attention or a state-space recurrence."""
        return self.linear.layers if self.linear else 0

    @property
    def attention_layers(self) -> int:
        """The number of layers with softmax attention, windowed or not."""
        every = max(0, self.layers - self.linear_layers)
        return every if self.stated_attention_layers is None else self.stated_attention_layers

    @property
    def window_layers(self) -> int:
        """The number of layers with sliding-window attention."""
        return min(self.window.layers, self.attention_layers) if self.window else 0

    @property
    def full_layers(self) -> int:
        """The number of layers with full softmax attention."""
        return self.attention_layers - self.window_layers

    @property
    def ffn_layers(self) -> int:
        """The number of layers with a feed-forward network, dense or MoE."""
        return self.layers if self.stated_ffn_layers is None else self.stated_ffn_layers

    @property
    def dense_layers(self) -> int:
        """The number of layers with a dense feed-forward network."""
        return max(0, self.ffn_layers - self.moe_layers)
