"""The catalog entry of a language model, and the optional parts of its architecture."""

from __future__ import annotations

from clusterspec.catalog.reader import Entry, FactReader
from clusterspec.quantity import Figure
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Optional parts of a model's architecture, present in some layers or models only


@dataclass(frozen=True)
class Window:
    """Sliding-window attention of ``layers`` layers over ``tokens`` tokens.

    ``heads``, ``kv_heads``, ``head_dim`` and ``value_head_dim`` apply to the layers with a window; 0 if they equal
    the model's.
    """

    tokens: int
    layers: int
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    value_head_dim: int = 0


@dataclass(frozen=True)
class LinearAttention:
    """Recurrent token mixing of ``layers`` layers: gated delta net, Kimi delta attention or Mamba-2.

    ``key_heads`` (groups in Mamba-2) of width ``key_head_dim`` (the state size in Mamba-2),
    ``value_heads`` of width ``value_head_dim``, a causal convolution over ``convolution`` tokens.
    ``gate_rank`` is the width that Kimi delta attention compresses the decay to, and
    ``output_gate_rank`` that of the output gate; 0 if either is one full matrix.
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


@dataclass(frozen=True)
class SparseAttention:
    """Attention of ``layers`` layers to the ``tokens`` keys that an index ranks highest.

    The index has ``index_heads`` query heads of width ``index_dim`` and one key per token.
    """

    tokens: int
    layers: int
    index_heads: int
    index_dim: int


@dataclass(frozen=True)
class CompressedAttention:
    """Attention to compressed key-value entries, as in DeepSeek-V4.

    Queries are compressed to ``q``. Keys and values are one vector of the head dimension; its last ``rope`` elements
    are rotary. The output goes through ``output_groups`` groups of rank ``output_rank``.
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

    def mean_over_layers(self, light: float, heavy: float) -> float:
        """The mean of a value of the light layers and one of the heavy layers."""
        layers = self.light_layers + self.heavy_layers
        return (self.light_layers * light + self.heavy_layers * heavy) / max(1, layers)


@dataclass(frozen=True)
class TokenPrediction:
    """Multi-token prediction: ``layers`` additional layers, with a ``dense`` FFN or with ``experts``."""

    layers: int
    ffn: str


@dataclass(frozen=True)
class Block:
    """What a transformer block computes beyond its sizes, for exports to training frameworks.

    ``norm`` is ``rms`` or ``layer``, ``positions`` ``rope``, ``learned`` or ``alibi``, ``bias`` (of linear layers)
    ``none``, ``qkv`` or ``all``; empty if it is not known, as 0 and None are. ``norm_place`` is ``before`` attention
    and feed-forward network, ``after`` them, or ``both``. ``rope_scaling`` changes rotary frequencies for sequences
    longer than ``rope_original_length``.
    """

    norm: str = ""
    norm_epsilon: float | None = None
    norm_place: str = "before"
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
    sinks: bool | None = None
    router: str = ""
    router_groups: int = 0
    router_top_groups: int = 0
    router_scale: float | None = None
    expert_bias: bool | None = None


# The catalog entry of a language model


@dataclass(frozen=True)
class Model(Entry):
    """A language model. Counts are plain integers; widths in elements; ``parameters`` as published.

    ``heads`` to ``value_head_dim`` belong to layers with full attention. ``stated_attention_layers`` is None if all
    layers without linear attention have softmax attention, ``stated_ffn_layers`` if all layers have a feed-forward
    network. ``wide_layers`` counts the layers at the start and at the end that multiply in 16 bits although the others
    use fewer bits. ``predicted`` further layers of multi-token prediction are trained with it, none in an entry.
    ``parameters`` includes multi-token prediction modules if
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
    quantized_ffn_hidden: int = 0
    """The FFN width of the publisher's padded AWQ and GPTQ checkpoints; 0 if it equals ``ffn_hidden`` or is unknown."""
    vocab: int = 0
    max_sequence_length: int | None = None
    gated_ffn: bool = False
    tied_embeddings: bool = False
    learned_positions: bool = False
    fp16_overflows: bool = False
    """Activations exceed the range of fp16."""
    uncut_shared_experts: bool = False
    """Whether tensor parallelism leaves the shared experts of the fp8 checkpoint unsharded."""
    norm_across_heads: bool = False
    """Queries and keys are normalized over all heads together, not per head."""
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
    no_prediction_weights: bool = False
    """Whether the released weights are known to have no layers of multi-token prediction. False if that is unknown."""
    predicted: int = 0
    wide_layers: tuple[int, int] = (0, 0)
    experts: int = 0
    experts_per_token: int = 0
    expert_ffn_hidden: int = 0
    expert_latent: int = 0
    expert_biases: bool = False
    """Both matrices of an expert have a bias."""
    limited_activation: bool = False
    """The activation of experts limits its inputs to a range."""
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
    """The Hugging Face repository of the weights, as organization/name; empty if unknown."""
    license: str = ""
    """The license of the weights, by its SPDX id if it has one; empty if unknown."""
    checkpoint_precision: str | None = None
    """The precision of the published weights; None for 16 bits, or if unknown."""
    checkpoint_expert_precision: str | None = None
    """The precision of expert weights in the published checkpoint, if it differs from the other weights."""
    fp8_block: int = 0
    """Rows and columns of weights that share one scale in the published fp8 checkpoint; 0 if unknown."""
    year: int | None = None

    def __hash__(self) -> int:
        """A hash of a few fields: models are parts of cache keys, and hashing all figures is slow."""
        return hash((self.id, self.layers, self.hidden, self.experts))

    @property
    def latent(self) -> bool:
        """Whether attention is multi-head latent attention."""
        return self.latent_kv > 0

    @property
    def drafts(self) -> bool:
        """Whether the released weights have multi-token prediction layers, which can draft tokens."""
        return self.prediction is not None and not self.no_prediction_weights

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


# Conversion of catalog facts to the fields of a `Model`


def architecture(facts: FactReader) -> dict[str, Any]:
    """The dimensions of a model, and its optional parts."""
    heads, hidden = facts.count("heads") or 0, facts.count("hidden") or 0
    layers = facts.count("layers") or 0
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": facts.count("kv_heads") or heads,
        "head_dim": facts.count("head_dim") or (hidden // heads if heads else 0),
        "attention_gate": facts.text("attention_gate") or "none",
        "stated_attention_layers": facts.count("attention_layers"),
        "stated_ffn_layers": facts.count("ffn_layers"),
        "latent_q": facts.count("latent_attention.q") or 0,
        "latent_kv": facts.count("latent_attention.kv") or 0,
        "latent_rope": facts.count("latent_attention.rope") or 0,
        "window": _attention_window(facts, layers),
        "linear": _linear_attention(facts),
        "sparse": _sparse_attention(facts, layers),
        "compressed": _compressed_attention(facts),
        "prediction": _token_prediction(facts),
        "no_prediction_weights": facts.count("multi_token_prediction.layers") == 0
        or facts.flag("multi_token_prediction.released") is False,
        "block": _weight_block(facts),
        **{name: facts.count(name) or 0 for name in _COUNTS},
        **{name: facts.flag(name) or False for name in _FLAGS},
        "max_sequence_length": facts.count("max_sequence_length"),
        "routing_max_nodes": facts.count("routing_max_nodes"),
    }


_COUNTS = (
    "value_head_dim",
    "ffn_hidden",
    "quantized_ffn_hidden",
    "vocab",
    "experts",
    "experts_per_token",
    "expert_ffn_hidden",
    "expert_latent",
    "shared_experts",
    "shared_expert_ffn_hidden",
    "moe_layers",
)
_FLAGS = (
    "shared_kv",
    "gated_ffn",
    "tied_embeddings",
    "learned_positions",
    "fp16_overflows",
    "uncut_shared_experts",
    "norm_across_heads",
    "expert_biases",
    "limited_activation",
)


def _integers_under(facts: FactReader, name: str, *keys: str) -> dict[str, int]:
    """The integers under ``name``; 0 for absent ones."""
    return {key: facts.count(f"{name}.{key}") or 0 for key in keys}


def _attention_window(facts: FactReader, layers: int) -> Window | None:
    """The attention window: on all layers if the fact is a number of tokens, else on some."""
    if facts.has("attention_window"):
        return Window(facts.count("attention_window") or 0, layers)
    sizes = _integers_under(
        facts, "attention_window", "tokens", "layers", "heads", "kv_heads", "head_dim", "value_head_dim"
    )
    return Window(**sizes) if sizes["tokens"] else None


def _linear_attention(facts: FactReader) -> LinearAttention | None:
    keys = ("layers", "key_heads", "value_heads", "key_head_dim", "value_head_dim", "convolution")
    sizes = _integers_under(facts, "linear_attention", *keys, "gate_rank", "output_gate_rank")
    kind = facts.text("linear_attention.kind")
    return LinearAttention(kind, **sizes) if kind and sizes["layers"] else None


def _sparse_attention(facts: FactReader, layers: int) -> SparseAttention | None:
    sizes = _integers_under(facts, "sparse_attention", "tokens", "layers", "index_heads", "index_dim")
    sizes["layers"] = sizes["layers"] or layers
    return SparseAttention(**sizes) if sizes["tokens"] else None


def _compressed_attention(facts: FactReader) -> CompressedAttention | None:
    keys = ("q", "rope", "output_groups", "output_rank", "window")
    kinds = ("light_ratio", "light_layers", "heavy_ratio", "heavy_layers")
    sizes = _integers_under(facts, "compressed_attention", *keys, *kinds)
    return CompressedAttention(**sizes) if sizes["q"] else None


def _weight_block(reader: FactReader) -> Block | None:
    names = ("norm", "positions", "rope_scaling", "bias", "router")
    counts = ("rope_base", "rope_original_length", "router_groups", "router_top_groups")
    numbers = (
        "norm_epsilon",
        "rope_fraction",
        "rope_scaling_factor",
        "rope_mscale",
        "rope_mscale_all_dim",
        "router_scale",
    )
    facts: dict[str, Any] = {name: reader.text(f"block.{name}") or "" for name in names}
    facts |= {name: reader.count(f"block.{name}") or 0 for name in counts}
    facts |= {name: reader.number(f"block.{name}") for name in numbers}
    facts |= {name: reader.flag(f"block.{name}") for name in ("qk_norm", "sinks", "expert_bias")}
    facts["norm_place"] = reader.text("block.norm_place") or "before"
    return Block(**facts) if facts["norm"] else None


def _token_prediction(facts: FactReader) -> TokenPrediction | None:
    layers, ffn = facts.count("multi_token_prediction.layers"), facts.text("multi_token_prediction.ffn")
    return TokenPrediction(layers, ffn) if layers and ffn else None
