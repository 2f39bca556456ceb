"""Weights of token mixing: one layer's attention or recurrence, on one tensor-parallel rank."""

from __future__ import annotations

from clusterspec.catalog.architecture import CompressedAttention, LinearAttention, SparseAttention
from clusterspec.catalog.entries import Model
from clusterspec.cost.formulas import compressed, linear_attention, parameters
from clusterspec.records import NamedTuple

GATES = {"gated-delta": 2, "mamba-2": 1}
"""Gates per head: decay and update rate in a gated delta net (arXiv 2412.06464), the time step in Mamba-2."""
OVERLAPPING = 2
"""Entries that a token contributes to where compressed entries overlap (DeepSeek-V4, arXiv 2606.19348)."""


class LayerWeights(NamedTuple):
    """Weights of one layer on one rank: the shard of those that tensor parallelism cuts, and the replicated ones."""

    cut: float
    copied: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.cut + self.copied

    def __add__(self, other: object) -> LayerWeights:
        """Weights of both."""
        if not isinstance(other, LayerWeights):
            return NotImplemented
        return LayerWeights(self.cut + other.cut, self.copied + other.copied)


NOTHING = LayerWeights(0.0, 0.0)


def full_attention(model: Model, ranks: int = 1) -> LayerWeights:
    """Softmax attention of one layer without a window; the mean of light and heavy layers where it is compressed."""
    if model.compressed:
        return _compressed(model, model.compressed, ranks)
    index = _index(model, model.sparse) if model.sparse else NOTHING
    if model.latent:
        return _latent(model, ranks) + index
    dims = (model.heads, model.kv_heads, model.head_dim, model.value_width)
    return _grouped(model, dims, ranks, shared=model.shared_kv) + index


def window_attention(model: Model, ranks: int = 1) -> LayerWeights:
    """Softmax attention of one layer with a window."""
    window = model.window
    if window is None or model.latent:
        return full_attention(model, ranks)
    if model.compressed:
        return _shared_vector(model, model.compressed, ranks)
    head_dim = window.head_dim or model.head_dim
    value = window.value_head_dim or window.head_dim or model.value_width
    dims = (window.heads or model.heads, window.kv_heads or model.kv_heads, head_dim, value)
    return _grouped(model, dims, ranks, shared=False)


def latent_norms(model: Model) -> int:
    """Weights of the norms of one attention layer's compressed queries, keys and values."""
    if model.compressed:
        return model.compressed.q + model.head_dim
    return model.latent_q + model.latent_kv


def recurrence(model: Model, ranks: int = 1) -> LayerWeights:
    """Linear attention or a state-space recurrence of one layer."""
    linear = model.linear
    if linear is None:
        return NOTHING
    keys = parameters.share_of_heads(linear.key_heads, ranks) * linear.key_head_dim
    values, heads = linear.value_width / ranks, linear.value_heads / ranks
    if linear.kind in GATES:
        gates = GATES[linear.kind]
        weights = linear_attention.recurrent_weights(
            model.hidden, keys, values, heads, gates=gates, convolution=linear.convolution
        )
        return LayerWeights(weights, 0.0)
    weights = linear_attention.channel_gated_weights(
        model.hidden, keys, values, heads, rank=linear.gate_rank, convolution=linear.convolution
    )
    return LayerWeights(weights, float(model.hidden * linear.gate_rank)) + _output_gate(model, linear, values)


def _output_gate(model: Model, linear: LinearAttention, values: float) -> LayerWeights:
    if not linear.output_gate_rank:
        return LayerWeights(model.hidden * values, 0.0)
    return LayerWeights(linear.output_gate_rank * values, float(model.hidden * linear.output_gate_rank))


def _grouped(model: Model, dims: tuple[int, int, int, int], ranks: int, *, shared: bool) -> LayerWeights:
    """Grouped-query attention; a key-value head is never split. ``shared``: values are the keys."""
    heads, kv_heads, head_dim, value = dims
    held = parameters.share_of_heads(kv_heads, ranks)
    weights = parameters.attention_weights(model.hidden, heads / ranks, held, head_dim, value)
    saved = model.hidden * held * value if shared else 0.0
    return LayerWeights(weights - saved, 0.0) + _gate(model, heads, value, ranks)


def _gate(model: Model, heads: int, value: int, ranks: int) -> LayerWeights:
    outputs = {"none": 0, "head-wise": heads, "element-wise": heads * value}[model.attention_gate]
    return LayerWeights(parameters.gate_weights(model.hidden, outputs / ranks), 0.0)


def _latent(model: Model, ranks: int) -> LayerWeights:
    """Multi-head latent attention; its compressions are not sharded."""
    down = parameters.latent_down_weights(model.hidden, model.latent_q, model.latent_kv, model.latent_rope)
    up = parameters.latent_up_weights(
        model.hidden,
        model.heads,
        model.head_dim,
        model.value_width,
        q_width=model.latent_q or model.hidden,
        kv_rank=model.latent_kv,
        rope=model.latent_rope,
    )
    return LayerWeights(up / ranks, float(down)) + _gate(model, model.heads, model.value_width, ranks)


def _index(model: Model, sparse: SparseAttention) -> LayerWeights:
    """The index of sparse attention, on the share of full-attention layers that have one; replicated on every rank."""
    width = model.latent_q or model.hidden
    weights = parameters.index_weights(model.hidden, width, sparse.index_heads, sparse.index_dim)
    return LayerWeights(0.0, weights * min(1.0, sparse.layers / max(1, model.full_layers)))


def _shared_vector(model: Model, part: CompressedAttention, ranks: int) -> LayerWeights:
    """Attention with one key-value vector and outputs in groups, without compressed entries."""
    group = model.heads / part.output_groups
    up = compressed.compressed_up_weights(group, model.head_dim, model.hidden, part.q, part.output_rank)
    down = compressed.compressed_down_weights(model.hidden, part.q, model.head_dim)
    return LayerWeights(part.output_groups * up / ranks, float(down))


def _compressed(model: Model, part: CompressedAttention, ranks: int) -> LayerWeights:
    light = compressed.compressor_weights(model.hidden, model.head_dim, part.light_ratio, OVERLAPPING)
    heavy = compressed.compressor_weights(model.hidden, model.head_dim, part.heavy_ratio, 1)
    if model.sparse:
        dim, heads = model.sparse.index_dim, model.sparse.index_heads
        light += compressed.compressor_weights(model.hidden, dim, part.light_ratio, OVERLAPPING)
        light += parameters.index_weights(model.hidden, part.q, heads, dim) - model.hidden * dim
    total = part.light_layers * light + part.heavy_layers * heavy
    mean = total / max(1, part.light_layers + part.heavy_layers)
    return _shared_vector(model, part, ranks) + LayerWeights(0.0, float(mean))
