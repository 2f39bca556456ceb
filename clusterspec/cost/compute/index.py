"""Sparse attention of one layer: the index that ranks keys, and the core over the selected keys.

DeepSeek-V3.2, arXiv 2512.02556, section 2. Every tensor-parallel rank computes the whole index for its own rows.
"""

from __future__ import annotations

from clusterspec.catalog.architecture import SparseAttention
from clusterspec.cost.compute import attention
from clusterspec.cost.compute.kernels import GemmShape, Kernel, Work, linear, portion, stream
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.constants import assumed
from clusterspec.cost.formulas.attention import core_flops
from clusterspec.cost.formulas.compressed import compressed_entries

SPARSE = "sparse attention"
SCORE_BYTES = assumed(
    SPARSE,
    "score",
    8.0,
    "moved per score of the index: written in 32 bits, and read to select the highest",
    "B",
).value


def share(shard: Shard, part: SparseAttention) -> float:
    """The share of the layers with full attention that have an index."""
    return min(1.0, part.layers / max(1, shard.model.full_layers))


def projections(shard: Shard, part: SparseAttention) -> Work:
    """Queries of the index with their weights, and its keys unless those are compressed with the entries."""
    model = shard.model
    width = model.compressed.q if model.compressed else model.latent_q or model.hidden
    keys = part.index_heads + (0 if model.compressed else part.index_dim)
    queries = GemmShape(shard.rows, width, part.index_heads * part.index_dim)
    work = linear("index queries", queries, shard.precision)
    return portion(
        work + linear("index keys", GemmShape(shard.rows, model.hidden, keys), shard.kept), share(shard, part)
    )


def scores(shard: Shard, part: SparseAttention) -> Work:
    """Scores of all keys before a query, and the selection; gradients flow through the selected keys only."""
    ratio = shard.model.compressed.light_ratio if shard.model.compressed else 1
    own = shard.rows / shard.tokens
    every, chosen = (
        own * compressed_entries(attention.within(shard, tokens), ratio)
        for tokens in (shard.length, part.tokens * ratio)
    )
    shape = GemmShape(shard.length, part.index_dim, shard.length, shard.sequences * part.index_heads)
    flops = (
        core_flops(every, part.index_heads, part.index_dim, 0),
        core_flops(chosen, part.index_heads, part.index_dim, 0),
    )
    there = Kernel("index scores", flops[0], 0.0, "attention_forward", shape)
    back = Kernel("index scores: gradient", 2 * flops[1], 0.0, "attention_backward", shape)
    choice = stream("choice of keys", (SCORE_BYTES * every, SCORE_BYTES * chosen), 2)
    return portion(Work((there,), (back,)) + choice, share(shard, part))


def core(shard: Shard, part: SparseAttention) -> Work:
    """The core over selected keys, and over all keys in layers without an index.

    Latent attention then scores and sums the latents, which all heads share.
    """
    model, some = shard.model, share(shard, part)
    chosen, every = attention.within(shard, part.tokens), attention.within(shard, shard.length)
    plain = model.head_dim + model.latent_rope, model.value_width
    widths = (model.latent_kv + model.latent_rope, model.latent_kv) if model.latent else plain
    flops = some * core_flops(chosen, shard.heads, *widths) + (1 - some) * core_flops(every, shard.heads, *plain)
    return attention.flash(shard, flops)
