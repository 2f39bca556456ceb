"""Attention of one layer to compressed key-value entries (DeepSeek-V4, arXiv 2606.19348, section 2).

Light and heavy layers are represented by one mean layer.
"""

from __future__ import annotations

from clusterspec.catalog.architecture import CompressedAttention
from clusterspec.cost.compute import attention
from clusterspec.cost.compute.kernels import GemmShape, Role, Work, linear
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas.attention import core_flops
from clusterspec.cost.formulas.compressed import compressed_entries
from clusterspec.cost.layers import Mixer
from clusterspec.cost.mixers import OVERLAPPING


def projections(shard: Shard, part: CompressedAttention) -> Work:
    """Compressed queries, the shared vector of keys and values, its compressors, and queries of heads."""
    model, precision = shard.model, shard.precision
    down = GemmShape(shard.rows, model.hidden, part.q + model.head_dim)
    up = GemmShape(shard.tokens, part.q, shard.heads * model.head_dim)
    work = linear("query and key-value compression", down, precision)
    if shard.mixer is Mixer.FULL:
        work += linear(
            "compression of entries", GemmShape(shard.rows, model.hidden, _compressor(shard, part)), precision
        )
    return work + linear("query expansion", up, precision, Role.LIGHT)


def _compressor(shard: Shard, part: CompressedAttention) -> float:
    """The value and the gate that form entries, and keys of the index in light layers."""
    model = shard.model
    index = model.sparse.index_dim if model.sparse else 0
    return _mean(part, 2 * OVERLAPPING * (model.head_dim + index), 2 * model.head_dim)


def _mean(part: CompressedAttention, light: float, heavy: float) -> float:
    layers = part.light_layers + part.heavy_layers
    return (part.light_layers * light + part.heavy_layers * heavy) / max(1, layers)


def core(shard: Shard, part: CompressedAttention) -> Work:
    """Scores and values of the last tokens and of the entries before them: all of them, or those that an index
    selects.
    """
    window, model = shard.model.window, shard.model
    pairs = attention.within(shard, part.window or (window.tokens if window else 0))
    if shard.mixer is Mixer.FULL:
        chosen = model.sparse.tokens * part.light_ratio if model.sparse else shard.length
        light = compressed_entries(attention.within(shard, chosen), part.light_ratio)
        heavy = compressed_entries(attention.within(shard, shard.length), part.heavy_ratio)
        pairs += _mean(part, light, heavy)
    return attention.flash(shard, core_flops(pairs, shard.heads, model.head_dim, model.head_dim))


def output(shard: Shard, part: CompressedAttention) -> Work:
    """The output projection of each group of heads to its rank, and of all groups to the hidden width."""
    model, groups = shard.model, part.output_groups / shard.tp
    each = GemmShape(shard.tokens, model.heads * model.head_dim / part.output_groups, part.output_rank, groups)
    whole = GemmShape(shard.tokens, groups * part.output_rank, model.hidden)
    return linear("output of groups", each, shard.precision) + linear("attention output", whole, shard.precision)
