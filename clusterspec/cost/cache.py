"""State kept per sequence in serving, on one tensor-parallel rank, in elements.

Keys and values, the keys of a sparse index and the recurrent state of linear attention are counted separately, since
engines store them in different precisions.
"""

from __future__ import annotations

from clusterspec.catalog.architecture import CompressedAttention
from clusterspec.catalog.entries import Model
from clusterspec.cost.formulas import cache, compressed, linear_attention, parameters
from clusterspec.cost.layers import Chunk
from clusterspec.precision import width
from clusterspec.records import NamedTuple

STATE = width("fp32")
"""Bytes of an element of recurrent state."""


class SequenceBytes(NamedTuple):
    """Bytes that one rank keeps of one sequence: its keys and values, and recurrent state of constant size."""

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

    def stored(self, precision: str) -> SequenceBytes:
        """The bytes, with keys and values in the precision of the cache."""
        return SequenceBytes(width(precision) * (self.keys_values + self.index_keys), STATE * self.state)


def of_sequence(model: Model, held: tuple[Chunk, ...], tokens: float, ranks: int = 1) -> Cache:
    """The elements that the chunks ``held`` store for a sequence of ``tokens`` tokens on one of ``ranks`` ranks.

    Compressed keys and values and sparse indices are not sharded: every rank stores them in full.
    """
    full = sum(chunk.full_layers for chunk in held)
    window = sum(chunk.window_layers for chunk in held)
    linear = sum(chunk.linear_layers for chunk in held)
    return Cache(
        keys_values=full * _full(model, tokens, ranks) + window * _window(model, tokens, ranks),
        index_keys=full * _index(model, tokens),
        state=linear * _state(model, ranks),
    )


def of_next_token(model: Model, held: tuple[Chunk, ...], ranks: int = 1) -> float:
    """Elements of keys, values and index that one more token adds to a sequence longer than every window."""
    longest = float(max(model.window.tokens if model.window else 0, model.compressed.window if model.compressed else 0))
    before, after = (of_sequence(model, held, longest + more, ranks) for more in (0.0, 1.0))
    return after.keys_values + after.index_keys - before.keys_values - before.index_keys


def _full(model: Model, tokens: float, ranks: int) -> float:
    """Keys and values of one layer with full attention; the mean of light and heavy layers if compressed."""
    if model.compressed:
        return _compressed(model, model.compressed, tokens)
    if model.latent:
        return tokens * (model.latent_kv + model.latent_rope)
    heads = parameters.share_of_heads(model.kv_heads, ranks)
    return float(tokens * cache.key_value_width(heads, model.head_dim, model.value_width))


def _window(model: Model, tokens: float, ranks: int) -> float:
    """Keys and values of one layer with a window."""
    window = model.window
    if window is None:
        return 0.0
    kept = float(cache.cached_tokens(tokens, float(window.tokens)))
    if model.compressed or model.latent:
        return kept * (model.head_dim if model.compressed else model.latent_kv + model.latent_rope)
    heads = parameters.share_of_heads(window.kv_heads or model.kv_heads, ranks)
    value = window.value_head_dim or window.head_dim or model.value_width
    return float(kept * cache.key_value_width(heads, window.head_dim or model.head_dim, value))


def _compressed(model: Model, part: CompressedAttention, tokens: float) -> float:
    """Entries of a compressed layer, one vector each, and the uncompressed latest tokens."""
    light = part.light_layers * compressed.compressed_entries(tokens, part.light_ratio)
    heavy = part.heavy_layers * compressed.compressed_entries(tokens, part.heavy_ratio)
    mean = (light + heavy) / max(1, part.light_layers + part.heavy_layers)
    return float(model.head_dim * (mean + cache.cached_tokens(tokens, float(part.window))))


def _index(model: Model, tokens: float) -> float:
    """Keys of the sparse index, the mean of all layers with full attention."""
    sparse = model.sparse
    if sparse is None or not model.full_layers:
        return 0.0
    entries = compressed.compressed_entries(tokens, model.compressed.light_ratio) if model.compressed else tokens
    return float(entries * sparse.index_dim * min(1.0, sparse.layers / model.full_layers))


def _state(model: Model, ranks: int) -> float:
    """Recurrent state and convolution of one layer with linear attention."""
    linear = model.linear
    if linear is None:
        return 0.0
    keys = parameters.share_of_heads(linear.key_heads, ranks) * linear.key_head_dim
    values = linear.value_width / ranks
    state = linear_attention.state_elements(linear.value_heads / ranks, linear.key_head_dim, linear.value_head_dim)
    return float(state + linear_attention.convolution_elements(keys, values, linear.convolution))
