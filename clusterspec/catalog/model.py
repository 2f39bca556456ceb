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

    ``heads`` to ``value_head_dim`` are those of layers with full attention. The stated numbers of
    layers are None where every layer that has no linear attention has softmax attention, and where
    every layer has a feed-forward network. ``parameters`` counts modules of multi-token prediction
    where ``parameters_with_prediction``, and ``encoder_parameters`` that the entry does not describe.
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
        """Width of a value of one head; that of a key unless the entry says otherwise."""
        return self.value_head_dim or self.head_dim

    @property
    def ffn_matrices(self) -> int:
        """Matrices of one feed-forward network: three where it is gated."""
        return 3 if self.gated_ffn else 2

    @property
    def expert_width(self) -> int:
        """Width that routed experts take in and give out."""
        return self.expert_latent or self.hidden

    @property
    def shared_width(self) -> int:
        """Width of the networks of all shared experts of a layer together."""
        return self.shared_experts * (self.shared_expert_ffn_hidden or self.expert_ffn_hidden)

    @property
    def linear_layers(self) -> int:
        """How many layers mix tokens by linear attention or a state-space recurrence."""
        return self.linear.layers if self.linear else 0

    @property
    def attention_layers(self) -> int:
        """How many layers have softmax attention, with or without a window."""
        every = max(0, self.layers - self.linear_layers)
        return every if self.stated_attention_layers is None else self.stated_attention_layers

    @property
    def window_layers(self) -> int:
        """How many layers attend to a sliding window."""
        return min(self.window.layers, self.attention_layers) if self.window else 0

    @property
    def full_layers(self) -> int:
        """How many layers have softmax attention without a window."""
        return self.attention_layers - self.window_layers

    @property
    def ffn_layers(self) -> int:
        """How many layers have a feed-forward network, dense or of experts."""
        return self.layers if self.stated_ffn_layers is None else self.stated_ffn_layers

    @property
    def dense_layers(self) -> int:
        """How many layers have a dense feed-forward network."""
        return self.ffn_layers - self.moe_layers
