"""The catalog entry of a language model, the optional parts of its architecture, and the base of all entries."""

from __future__ import annotations

from clusterspec.catalog.reader import Status
from clusterspec.quantity import Figure
from clusterspec.records import dataclass

# Optional parts of a model's architecture, present in some layers or models only


@dataclass(frozen=True, slots=True)
class Window:
    """Sliding-window attention of ``layers`` layers over ``tokens`` tokens.

    ``heads``, ``kv_heads``, ``head_dim`` and ``value_head_dim`` are those of the layers with a
    window; 0 if they are those of the model.
    """

    tokens: int
    layers: int
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    value_head_dim: int = 0


@dataclass(frozen=True, slots=True)
class LinearAttention:
    """Recurrent token mixing of ``layers`` layers: gated delta net, Kimi delta attention or Mamba-2.

    ``key_heads`` (groups in Mamba-2) of width ``key_head_dim`` (the state size in Mamba-2),
    ``value_heads`` of width ``value_head_dim``, a causal convolution over ``convolution`` tokens.
    ``gate_rank`` is the width that Kimi delta attention compresses the decay to, and
    ``output_gate_rank`` that of the output gate; 0 if the gate is one full matrix.
    """

    kind: str
    layers: int
    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    convolution: int = 4
    gate_rank: int = 0
    output_gate_rank: int = 0

    @property
    def value_width(self) -> int:
        """The width of the values of all heads."""
        return self.value_heads * self.value_head_dim


@dataclass(frozen=True, slots=True)
class SparseAttention:
    """Attention of ``layers`` layers to the ``tokens`` keys that an index ranks highest.

    The index has ``index_heads`` query heads of width ``index_dim`` and one key per token.
    """

    tokens: int
    layers: int
    index_heads: int
    index_dim: int


@dataclass(frozen=True, slots=True)
class CompressedAttention:
    """Attention to compressed key-value entries, as in DeepSeek-V4.

    Queries are compressed to ``q``; keys and values are one vector of the head dimension, of which
    ``rope`` is rotary. The output goes through ``output_groups`` groups of rank ``output_rank``.
    ``light_layers`` keep one entry for every ``light_ratio`` tokens and choose among them by index;
    ``heavy_layers`` keep one for every ``heavy_ratio`` tokens and attend to all. Every layer also
    attends to the last ``window`` tokens.
    """

    q: int
    rope: int
    output_groups: int
    output_rank: int
    light_ratio: int
    light_layers: int
    heavy_ratio: int
    heavy_layers: int
    window: int


@dataclass(frozen=True, slots=True)
class TokenPrediction:
    """Multi-token prediction: ``layers`` additional layers, with a ``dense`` FFN or with ``experts``."""

    layers: int
    ffn: str


@dataclass(frozen=True, slots=True)
class Block:
    """What a transformer block computes beyond its sizes, for exports to training frameworks.

    ``norm`` is ``rms`` or ``layer``, ``positions`` ``rope``, ``learned`` or ``alibi``, ``bias`` (of linear layers)
    ``none``, ``qkv`` or ``all``; empty where it is not known, as 0 and None are. ``rope_scaling`` changes rotary
    frequencies for sequences longer than ``rope_original_length``.
    """

    norm: str = ""
    norm_epsilon: float | None = None
    positions: str = ""
    rope_base: int = 0
    rope_fraction: float | None = None
    rope_scaling: str = ""
    rope_scaling_factor: float | None = None
    rope_original_length: int = 0
    rope_mscale: float | None = None
    rope_mscale_all_dim: float | None = None
    bias: str = ""
    qk_norm: bool | None = None
    router: str = ""
    router_groups: int = 0
    router_top_groups: int = 0
    router_scale: float | None = None
    expert_bias: bool | None = None


# The base of every kind of catalog entry


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields common to all entries; ``kind/id`` identifies one."""

    id: str
    name: str
    vendor: str
    status: Status
    notes: tuple[str, ...]

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


# The catalog entry of a language model


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
    fp16_overflows: bool = False
    """Activations exceed the range of fp16."""
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
    block: Block | None = None
    repository: str = ""
    """Where Hugging Face has the weights, as organization/name; empty if it is not known."""
    fp8_block: int = 0
    """Rows and columns of weights that share one scale in the published fp8 checkpoint; 0 where that is not known."""
    year: int | None = None

    @property
    def latent(self) -> bool:
        """Whether attention is multi-head latent attention."""
        return self.latent_kv > 0

    @property
    def value_width(self) -> int:
        """The width of the value of one head. The default is the width of the key."""
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
