"""FLOPs of token mixing in a model, by the convention of `formulas.flops`."""

from __future__ import annotations

from clusterspec.catalog.architecture import CompressedAttention, LinearAttention, SparseAttention
from clusterspec.catalog.entries import Model
from clusterspec.cost.formulas import compressed, flops, linear_attention

STATE_PRODUCTS = {"gated-delta": 3, "kimi-delta": 3, "mamba-2": 2}
"""Products of a recurrence with its state per token (`formulas.linear_attention.recurrence_flops`)."""


def attention_flops(model: Model, sequence: float) -> float:
    """FLOPs per token of attention scores and values, sparse indices and recurrences, forward and backward.

    Attention counts as unmasked. A window or an index limits the tokens that one token attends to.
    """
    found = _full(model, sequence) + _window(model, sequence)
    return found + (_recurrence(model.linear) if model.linear else 0.0)


def _full(model: Model, sequence: float) -> float:
    dims = (model.heads, model.head_dim + model.latent_rope, model.value_width)
    if model.compressed:
        light, heavy = _entries(model, model.compressed, sequence)
        found = flops.unmasked_attention_flops(model.compressed.light_layers, *dims, light)
        found += flops.unmasked_attention_flops(model.compressed.heavy_layers, *dims, heavy)
        return float(found + _index(model, model.sparse, sequence))
    sparse = min(model.sparse.layers, model.full_layers) if model.sparse else 0
    found = flops.unmasked_attention_flops(model.full_layers - sparse, *dims, sequence)
    if model.sparse:
        found += flops.unmasked_attention_flops(sparse, *dims, min(model.sparse.tokens, sequence))
    return float(found + _index(model, model.sparse, sequence))


def _entries(model: Model, part: CompressedAttention, sequence: float) -> tuple[float, float]:
    """Entries and tokens that one token attends to in light and in heavy layers."""
    near = min(part.window, sequence)
    light, heavy = (compressed.compressed_entries(sequence, ratio) for ratio in (part.light_ratio, part.heavy_ratio))
    return near + min(light, model.sparse.tokens if model.sparse else light), near + heavy


def _index(model: Model, sparse: SparseAttention | None, sequence: float) -> float:
    """Scores of the index, which has no values."""
    if sparse is None:
        return 0.0
    keys = compressed.compressed_entries(sequence, model.compressed.light_ratio) if model.compressed else sequence
    return float(flops.unmasked_attention_flops(sparse.layers, sparse.index_heads, sparse.index_dim, 0, keys))


def _window(model: Model, sequence: float) -> float:
    window = model.window
    if window is None:
        return 0.0
    dims = (window.head_dim or model.head_dim, window.value_head_dim or window.head_dim or model.value_width)
    tokens = min(window.tokens, sequence)
    heads = window.heads or model.heads
    return float(flops.unmasked_attention_flops(model.window_layers, heads, *dims, tokens))


def _recurrence(part: LinearAttention) -> float:
    products = STATE_PRODUCTS[part.kind]
    each = linear_attention.recurrence_flops(part.value_heads, part.key_head_dim, part.value_head_dim, products)
    return float(3 * part.layers * each)
