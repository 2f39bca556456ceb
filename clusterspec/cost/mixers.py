"""Token mixing of a model: FLOPs per token, weights of one layer, and the cache of a sequence."""

from __future__ import annotations

from clusterspec.catalog.models import Model, SparseAttention
from clusterspec.cost.formulas import compute, memory
from clusterspec.cost.layers import Chunk, LayerWeights
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple


def attention_flops(model: Model, sequence: float) -> float:
    """FLOPs per token of attention scores and values, sparse indices and recurrences, forward and backward.

    Attention counts as unmasked. A window or an index limits the tokens that one token attends to.
    """
    found = full_attention_flops(model, sequence) + _window_attention_flops(model, sequence)
    if model.linear is None:
        return found
    from clusterspec.cost.compact_mixers import recurrence_flops

    return found + recurrence_flops(model.linear)


def full_attention_flops(model: Model, sequence: float) -> float:
    """FLOPs per token of the layers without a window, forward and backward, unmasked."""
    dims = (model.heads, model.head_dim + model.latent_rope, model.value_width)
    if model.compressed:
        from clusterspec.cost.compact_mixers import attended_entries

        light, heavy = attended_entries(model, model.compressed, sequence)
        found = compute.unmasked_attention_flops(model.compressed.light_layers, *dims, light)
        found += compute.unmasked_attention_flops(model.compressed.heavy_layers, *dims, heavy)
        return float(found + _index_flops(model, model.sparse, sequence))
    sparse = min(model.sparse.layers, model.full_layers) if model.sparse else 0
    found = compute.unmasked_attention_flops(model.full_layers - sparse, *dims, sequence)
    if model.sparse:
        found += compute.unmasked_attention_flops(sparse, *dims, min(model.sparse.tokens, sequence))
    return float(found + _index_flops(model, model.sparse, sequence))


def _index_flops(model: Model, sparse: SparseAttention | None, sequence: float) -> float:
    """Scores of the index, which has no values."""
    if sparse is None:
        return 0.0
    keys = _indexed_entries(model, sequence)
    return float(compute.unmasked_attention_flops(sparse.layers, sparse.index_heads, sparse.index_dim, 0, keys))


def _indexed_entries(model: Model, tokens: float) -> float:
    """Entries that the index of a sequence of ``tokens`` tokens ranks: its tokens, or its light compressed entries."""
    if not model.compressed:
        return tokens
    from clusterspec.cost.formulas.attention import compressed_entries

    return float(compressed_entries(tokens, model.compressed.light_ratio))


def _window_attention_flops(model: Model, sequence: float) -> float:
    window = model.window
    if window is None:
        return 0.0
    dims = (window.head_dim or model.head_dim, window.value_head_dim or window.head_dim or model.value_width)
    tokens = min(window.tokens, sequence)
    heads = window.heads or model.heads
    return float(compute.unmasked_attention_flops(model.window_layers, heads, *dims, tokens))


NOTHING = LayerWeights(0.0, 0.0)


def full_attention_weights(model: Model, ranks: int = 1) -> LayerWeights:
    """Softmax attention of one layer without a window. For compressed attention, the mean of light and heavy layers."""
    if model.compressed:
        from clusterspec.cost.compact_mixers import compressed_attention_weights

        return compressed_attention_weights(model, model.compressed, ranks)
    index = _index_weights(model, model.sparse) if model.sparse else NOTHING
    if model.latent:
        return _latent_attention_weights(model, ranks) + index
    dims = (model.heads, model.kv_heads, model.head_dim, model.value_width)
    return _grouped_query_weights(model, dims, ranks, shared=model.shared_kv) + index


def window_attention_weights(model: Model, ranks: int = 1) -> LayerWeights:
    """Softmax attention of one layer with a window."""
    window = model.window
    if window is None or model.latent:
        return full_attention_weights(model, ranks)
    if model.compressed:
        from clusterspec.cost.compact_mixers import shared_vector_weights

        return shared_vector_weights(model, model.compressed, ranks)
    head_dim = window.head_dim or model.head_dim
    value = window.value_head_dim or window.head_dim or model.value_width
    dims = (window.heads or model.heads, window.kv_heads or model.kv_heads, head_dim, value)
    return _grouped_query_weights(model, dims, ranks, shared=False)


def recurrence_weights(model: Model, ranks: int = 1) -> LayerWeights:
    """Linear attention or a state-space recurrence of one layer."""
    if model.linear is None:
        return NOTHING
    from clusterspec.cost.compact_mixers import recurrence_layer_weights

    return recurrence_layer_weights(model, model.linear, ranks)


def latent_norm_weights(model: Model) -> int:
    """Weights of the norms of one attention layer's compressed queries, keys and values."""
    if model.compressed:
        return model.compressed.q + model.head_dim
    return model.latent_q + model.latent_kv


def _grouped_query_weights(model: Model, dims: tuple[int, int, int, int], ranks: int, *, shared: bool) -> LayerWeights:
    """Grouped-query attention; a head is never split. ``shared``: values are the keys."""
    heads, kv_heads, head_dim, value = dims
    held = memory.share_of_heads(kv_heads, ranks)
    queries = memory.share_of_heads(heads, ranks)
    weights = memory.attention_weights(model.hidden, queries, held, head_dim, value)
    saved = model.hidden * held * value if shared else 0.0
    return LayerWeights(weights - saved, 0.0) + _gate_weights(model, heads, value, ranks)


def _gate_weights(model: Model, heads: int, value: int, ranks: int) -> LayerWeights:
    outputs = {"none": 0, "head-wise": heads, "element-wise": heads * value}[model.attention_gate]
    return LayerWeights(memory.gate_weights(model.hidden, outputs / ranks), 0.0)


def _latent_attention_weights(model: Model, ranks: int) -> LayerWeights:
    """Multi-head latent attention; its compressions are not sharded."""
    from clusterspec.cost.formulas.attention import latent_down_weights, latent_up_weights

    down = latent_down_weights(model.hidden, model.latent_q, model.latent_kv, model.latent_rope)
    up = latent_up_weights(
        model.hidden,
        model.heads,
        model.head_dim,
        model.value_width,
        q_width=model.latent_q or model.hidden,
        kv_rank=model.latent_kv,
        rope=model.latent_rope,
    )
    return LayerWeights(up / ranks, float(down)) + _gate_weights(model, model.heads, model.value_width, ranks)


def _index_weights(model: Model, sparse: SparseAttention) -> LayerWeights:
    """The index of sparse attention, on the share of full-attention layers that have one; replicated on every rank."""
    from clusterspec.cost.formulas.attention import index_weights

    width = model.latent_q or model.hidden
    weights = index_weights(model.hidden, width, sparse.index_heads, sparse.index_dim)
    return LayerWeights(0.0, weights * min(1.0, sparse.layers / max(1, model.full_layers)))


# State kept per sequence in serving, on one tensor-parallel rank, in elements

INDEX = 1 + 4 / 128
"""Bytes per element of an index key, whatever the cache precision: 8 bits, and a scale of 32 bits for every 128
elements.

Source: vLLM, vllm/model_executor/models/deepseek_v2.py: the `k_cache` of `Indexer` has `head_dim + head_dim // 128 * 4`
bytes; SGLang, python/sglang/srt/mem_cache/memory_pool.py: `index_k_with_scale_buffer`.
"""
STATE = precision_width("fp32")
"""Bytes of an element of recurrent state."""


class SequenceBytes(NamedTuple):
    """Bytes that one rank stores for one sequence: keys and values, and recurrent state of constant size."""

    keys_values: float
    state: float

    @property
    def total(self) -> float:
        return self.keys_values + self.state


class Cache(NamedTuple):
    """Elements stored per sequence: ``keys_values`` and ``index_keys`` grow with its length, ``state`` does not."""

    keys_values: float
    index_keys: float
    state: float

    def stored_bytes(self, precision: str) -> SequenceBytes:
        """The bytes, with keys and values in the precision of the cache."""
        kept = precision_width(precision) * self.keys_values + INDEX * self.index_keys
        return SequenceBytes(kept, STATE * self.state)


def sequence_cache(
    model: Model, held: tuple[Chunk, ...], tokens: float, ranks: int = 1, reserved: float = 0.0
) -> Cache:
    """The elements that the chunks ``held`` store for a sequence of ``tokens`` tokens on one of ``ranks`` ranks.

    Compressed keys and values and sparse indices are not sharded: every rank stores them in full. Layers with a window
    have space for the share ``reserved`` of the tokens, at least for their window.
    """
    full = sum(chunk.full_layers for chunk in held)
    window = sum(chunk.window_layers for chunk in held)
    linear = sum(chunk.linear_layers for chunk in held)
    return Cache(
        keys_values=full * _full_attention_cache(model, tokens, ranks)
        + window * _window_cache(model, tokens, ranks, reserved),
        index_keys=full * _index_cache(model, tokens),
        state=linear * _recurrent_state(model, ranks),
    )


def next_token_bytes(model: Model, held: tuple[Chunk, ...], precision: str, reserved: float = 0.0) -> float:
    """Bytes of keys, values and index that one more token adds to a sequence longer than every window, unsharded."""
    longest = float(max(model.window.tokens if model.window else 0, model.compressed.window if model.compressed else 0))
    longest /= reserved or 1.0
    before, after = (
        sequence_cache(model, held, longest + more, reserved=reserved).stored_bytes(precision) for more in (0.0, 1.0)
    )
    return after.keys_values - before.keys_values


def _full_attention_cache(model: Model, tokens: float, ranks: int) -> float:
    """Elements of keys and values of one layer with full attention. For compressed attention, the mean of light and
    heavy layers.
    """
    if model.compressed:
        from clusterspec.cost.compact_mixers import compressed_cache

        return compressed_cache(model, model.compressed, tokens)
    if model.latent:
        return tokens * (model.latent_kv + model.latent_rope)
    from clusterspec.cost.formulas.attention import key_value_width  # checks of training keep no cache

    heads = memory.share_of_heads(model.kv_heads, ranks)
    return float(tokens * key_value_width(heads, model.head_dim, model.value_width))


def _window_cache(model: Model, tokens: float, ranks: int, reserved: float) -> float:
    """Keys and values of one layer with a window."""
    window = model.window
    if window is None:
        return 0.0
    from clusterspec.cost.formulas import attention

    kept = compute.larger(float(attention.cached_tokens(tokens, float(window.tokens))), reserved * tokens)
    if model.compressed or model.latent:
        return kept * (model.head_dim if model.compressed else model.latent_kv + model.latent_rope)
    heads = memory.share_of_heads(window.kv_heads or model.kv_heads, ranks)
    value = window.value_head_dim or window.head_dim or model.value_width
    return float(kept * attention.key_value_width(heads, window.head_dim or model.head_dim, value))


def _index_cache(model: Model, tokens: float) -> float:
    """Keys of the sparse index, the mean of all layers with full attention."""
    sparse = model.sparse
    if sparse is None or not model.full_layers:
        return 0.0
    return float(_indexed_entries(model, tokens) * sparse.index_dim * min(1.0, sparse.layers / model.full_layers))


def _recurrent_state(model: Model, ranks: int) -> float:
    """Recurrent state and convolution of one layer with linear attention."""
    if model.linear is None:
        return 0.0
    from clusterspec.cost.compact_mixers import recurrent_state

    return recurrent_state(model.linear, ranks)
