"""Kernels of attention to compressed entries, and to keys that an index selects."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.models import CompressedAttention, SparseAttention
from clusterspec.cost import assumed_figure
from clusterspec.cost.compact_mixers import OVERLAPPING
from clusterspec.cost.compute import (
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    linear_work,
    streaming_work,
    work_share,
)
from clusterspec.cost.compute.attention import (
    SPARSE,
    attention_projections,
    dense_attention_core,
    flash_attention,
    output_projection,
    position_work,
    windowed_pairs,
)
from clusterspec.cost.formulas.attention import compressed_entries
from clusterspec.cost.formulas.compute import core_flops
from clusterspec.cost.layers import Mixer

# Attention of one layer to compressed key-value entries (DeepSeek-V4, arXiv 2606.19348, section 2)


def compressed_projections(shard: Shard, part: CompressedAttention) -> Work:
    """Compressed queries, the shared vector of keys and values, its compressors, and queries of heads."""
    model, precision = shard.model, shard.precision
    down = GemmShape(shard.rows, model.hidden, part.q + model.head_dim)
    up = GemmShape(shard.tokens, part.q, shard.heads * model.head_dim)
    work = linear_work("query and key-value compression", down, precision)
    if shard.mixer is Mixer.FULL:
        work += linear_work(
            "compression of entries", GemmShape(shard.rows, model.hidden, _compressor_width(shard, part)), precision
        )
    return work + linear_work("query expansion", up, precision, Role.LIGHT)


def _compressor_width(shard: Shard, part: CompressedAttention) -> float:
    """The value and the gate that form entries, and keys of the index in light layers."""
    model = shard.model
    index = model.sparse.index_dim if model.sparse else 0
    return part.mean_over_layers(2 * OVERLAPPING * (model.head_dim + index), 2 * model.head_dim)


def compressed_core(shard: Shard, part: CompressedAttention) -> Work:
    """Scores and values of the last tokens and of compressed entries before them: all entries, or the entries that an
    index selects.
    """
    window, model = shard.model.window, shard.model
    pairs = windowed_pairs(shard, part.window or (window.tokens if window else 0))
    if shard.mixer is Mixer.FULL:
        chosen = model.sparse.tokens * part.light_ratio if model.sparse else shard.length
        light = compressed_entries(windowed_pairs(shard, chosen), part.light_ratio)
        heavy = compressed_entries(windowed_pairs(shard, shard.length), part.heavy_ratio)
        pairs += part.mean_over_layers(light, heavy)
    return flash_attention(shard, core_flops(pairs, shard.heads, model.head_dim, model.head_dim))


def compressed_output(shard: Shard, part: CompressedAttention) -> Work:
    """The output projection of each group of heads to its rank, and of all groups to the hidden width."""
    model, groups = shard.model, part.output_groups / shard.tp
    each = GemmShape(shard.tokens, model.heads * model.head_dim / part.output_groups, part.output_rank, groups)
    whole = GemmShape(shard.tokens, groups * part.output_rank, model.hidden)
    return linear_work("output of groups", each, shard.precision) + linear_work(
        "attention output", whole, shard.precision
    )


# Sparse attention of one layer: the index that ranks keys, and the core over the selected keys

SCORE_BYTES = assumed_figure(
    SPARSE,
    "score",
    8.0,
    "moved per score of the index: written in 32 bits, and read to select the highest",
    "B",
).value


def indexed_share(shard: Shard, part: SparseAttention) -> float:
    """The share of the layers with full attention that have an index."""
    return min(1.0, part.layers / max(1, shard.model.full_layers))


def index_projections(shard: Shard, part: SparseAttention) -> Work:
    """Queries of the index with their weights, and the index keys unless compression computes them with the entries."""
    model = shard.model
    width = model.compressed.q if model.compressed else model.latent_q or model.hidden
    keys = part.index_heads + (0 if model.compressed else part.index_dim)
    queries = GemmShape(shard.rows, width, part.index_heads * part.index_dim)
    work = linear_work("index queries", queries, shard.precision)
    return work_share(
        work + linear_work("index keys", GemmShape(shard.rows, model.hidden, keys), shard.kept),
        indexed_share(shard, part),
    )


def index_scores(shard: Shard, part: SparseAttention) -> Work:
    """Scores of all keys before a query, and the selection; gradients flow through the selected keys only."""
    ratio = shard.model.compressed.light_ratio if shard.model.compressed else 1
    own = shard.rows / shard.tokens
    every, chosen = (
        own * compressed_entries(windowed_pairs(shard, tokens), ratio) for tokens in (shard.length, part.tokens * ratio)
    )
    shape = GemmShape(shard.length, part.index_dim, shard.length, shard.sequences * part.index_heads)
    flops = (
        core_flops(every, part.index_heads, part.index_dim, 0),
        core_flops(chosen, part.index_heads, part.index_dim, 0),
    )
    there = Kernel("index scores", flops[0], 0.0, "attention_forward", shape)
    back = Kernel("index scores: gradient", 2 * flops[1], 0.0, "attention_backward", shape)
    choice = streaming_work("choice of keys", (SCORE_BYTES * every, SCORE_BYTES * chosen), 2)
    return work_share(Work((there,), (back,)) + choice, indexed_share(shard, part))


def index_core(shard: Shard, part: SparseAttention) -> Work:
    """The core over selected keys, and over all keys in layers without an index.

    Latent attention then scores and sums the latents, which all heads share.
    """
    model, some = shard.model, indexed_share(shard, part)
    chosen, every = windowed_pairs(shard, part.tokens), windowed_pairs(shard, shard.length)
    plain = model.head_dim + model.latent_rope, model.value_width
    widths = (model.latent_kv + model.latent_rope, model.latent_kv) if model.latent else plain
    flops = some * core_flops(chosen, shard.heads, *widths) + (1 - some) * core_flops(every, shard.heads, *plain)
    return flash_attention(shard, flops)


# The parts of a layer


def sparse_parts(shard: Shard) -> Mapping[str, Work]:
    """The parts of a layer of attention to compressed entries or selected keys before its feed-forward network."""
    return {
        "projections": _projections_of_layer(shard),
        "rotary": position_work(shard),
        "core": _core_of_layer(shard),
        "output": _output_of_layer(shard),
    }


def _projections_of_layer(shard: Shard) -> Work:
    model = shard.model
    work = compressed_projections(shard, model.compressed) if model.compressed else attention_projections(shard)
    return work + index_projections(shard, model.sparse) if model.sparse else work


def _core_of_layer(shard: Shard) -> Work:
    model = shard.model
    if not shard.flash:
        return dense_attention_core(shard)
    scores = index_scores(shard, model.sparse) if model.sparse else Work()
    if model.compressed:
        return scores + compressed_core(shard, model.compressed)
    assert model.sparse is not None
    return scores + index_core(shard, model.sparse)


def _output_of_layer(shard: Shard) -> Work:
    part = shard.model.compressed
    return compressed_output(shard, part) if part else output_projection(shard)
