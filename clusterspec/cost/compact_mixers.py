"""Mixers that keep less than the keys and values of every token: compressed entries and recurrences.

Their FLOPs, weights and caches. Designs without such layers do not load this module.
"""

from __future__ import annotations

from clusterspec.catalog.models import CompressedAttention, LinearAttention, Model
from clusterspec.cost.formulas import attention, memory
from clusterspec.cost.layers import LayerWeights

STATE_PRODUCTS = {"gated-delta": 3, "kimi-delta": 3, "mamba-2": 2}
"""Products of a recurrence with its state per token (`formulas.attention.recurrence_flops`)."""


def attended_entries(model: Model, part: CompressedAttention, sequence: float) -> tuple[float, float]:
    """The number of entries and recent tokens that one token attends to, in light layers and in heavy layers."""
    near = min(part.window, sequence)
    light, heavy = (attention.compressed_entries(sequence, ratio) for ratio in (part.light_ratio, part.heavy_ratio))
    return near + min(light, model.sparse.tokens if model.sparse else light), near + heavy


def recurrence_flops(part: LinearAttention) -> float:
    """FLOPs per token of the recurrences of all layers, forward and backward."""
    products = STATE_PRODUCTS[part.kind]
    each = attention.recurrence_flops(part.value_heads, part.key_head_dim, part.value_head_dim, products)
    return float(3 * part.layers * each)


# Weights of token mixing: one layer's attention or recurrence, on one tensor-parallel rank

GATES = {"gated-delta": 2, "mamba-2": 1}
"""Gates per head. A gated delta net has a decay and an update rate (arXiv 2412.06464), Mamba-2 has a time step."""
OVERLAPPING = 2
"""The number of compressed entries to which a token contributes if they overlap (DeepSeek-V4, arXiv 2606.19348)."""


def recurrence_layer_weights(model: Model, linear: LinearAttention, ranks: int) -> LayerWeights:
    """Linear attention or a state-space recurrence of one layer."""
    keys = memory.share_of_heads(linear.key_heads, ranks) * linear.key_head_dim
    values, heads = linear.value_width / ranks, linear.value_heads / ranks
    if linear.kind in GATES:
        gates = GATES[linear.kind]
        weights = attention.recurrent_weights(
            model.hidden, keys, values, heads, gates=gates, convolution=linear.convolution
        )
        return LayerWeights(weights, 0.0)
    rank = linear.gate_rank or model.hidden  # without compression, the decay is one full matrix
    weights = attention.channel_gated_weights(
        model.hidden, keys, values, heads, rank=rank, convolution=linear.convolution
    )
    return LayerWeights(weights, float(model.hidden * linear.gate_rank)) + _output_gate_weights(model, linear, values)


def _output_gate_weights(model: Model, linear: LinearAttention, values: float) -> LayerWeights:
    if not linear.output_gate_rank:
        return LayerWeights(model.hidden * values, 0.0)
    return LayerWeights(linear.output_gate_rank * values, float(model.hidden * linear.output_gate_rank))


def shared_vector_weights(model: Model, part: CompressedAttention, ranks: int) -> LayerWeights:
    """Attention with one key-value vector and outputs in groups, without compressed entries."""
    group = model.heads / part.output_groups
    up = attention.compressed_up_weights(group, model.head_dim, model.hidden, part.q, part.output_rank)
    down = attention.compressed_down_weights(model.hidden, part.q, model.head_dim)
    return LayerWeights(part.output_groups * up / ranks, float(down))


def compressed_attention_weights(model: Model, part: CompressedAttention, ranks: int) -> LayerWeights:
    """Attention of one layer to compressed entries; the mean of light and heavy layers."""
    light = attention.compressor_weights(model.hidden, model.head_dim, part.light_ratio, OVERLAPPING)
    heavy = attention.compressor_weights(model.hidden, model.head_dim, part.heavy_ratio, 1)
    if model.sparse:
        dim, heads = model.sparse.index_dim, model.sparse.index_heads
        light += attention.compressor_weights(model.hidden, dim, part.light_ratio, OVERLAPPING)
        light += attention.index_weights(model.hidden, part.q, heads, dim) - model.hidden * dim
    total = part.light_layers * light + part.heavy_layers * heavy
    mean = total / max(1, part.light_layers + part.heavy_layers)
    return shared_vector_weights(model, part, ranks) + LayerWeights(0.0, float(mean))


def compressed_cache(model: Model, part: CompressedAttention, tokens: float) -> float:
    """Entries of a compressed layer, one vector each, and the uncompressed latest tokens."""
    light = part.light_layers * attention.compressed_entries(tokens, part.light_ratio)
    heavy = part.heavy_layers * attention.compressed_entries(tokens, part.heavy_ratio)
    mean = (light + heavy) / max(1, part.light_layers + part.heavy_layers)
    return float(model.head_dim * (mean + attention.cached_tokens(tokens, float(part.window))))


def recurrent_state(linear: LinearAttention, ranks: int) -> float:
    """Recurrent state and convolution of one layer with linear attention."""
    keys = memory.share_of_heads(linear.key_heads, ranks) * linear.key_head_dim
    values = linear.value_width / ranks
    state = attention.state_elements(linear.value_heads / ranks, linear.key_head_dim, linear.value_head_dim)
    return float(state + attention.convolution_elements(keys, values, linear.convolution))
