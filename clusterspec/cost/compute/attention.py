"""Softmax attention of one layer: projections, rotary embedding, the core, and its latent form."""

from __future__ import annotations

from clusterspec.cost.compute.fixed import (
    FLASH_BACKWARD,
    FLASH_BACKWARD_TRAFFIC,
    SOFTMAX_BATCHES,
    SOFTMAX_PASSES,
    SOFTMAX_STEPS,
)
from clusterspec.cost.compute.kernels import GemmShape, Kernel, Role, Work, linear, product, stream
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas import attention as formulas
from clusterspec.cost.formulas.elementwise import absent
from clusterspec.cost.layers import Mixer


def projections(shard: Shard) -> Work:
    """The weight matrices before the core."""
    model = shard.model
    if model.latent:
        return _compressions(shard) + _expansions(shard) + gate(shard)
    values = 0.0 if model.shared_kv else shard.kv_heads * model.value_width
    width = (shard.heads + shard.kv_heads) * model.head_dim + values
    return linear("query, key, value", GemmShape(shard.tokens, model.hidden, width), shard.precision) + gate(shard)


def gate(shard: Shard) -> Work:
    """The gate on the output of attention: one number per head, or per element."""
    model = shard.model
    outputs = {"none": 0.0, "head-wise": shard.heads, "element-wise": shard.heads * model.value_width}
    shape = GemmShape(shard.tokens, model.hidden, outputs[model.attention_gate])
    if absent(shape.n):
        return Work()
    moved = shard.width * shard.tokens * (shape.n + 2 * shard.heads * model.value_width)
    applied = stream("attention gate", (moved, 2 * moved), role=Role.LIGHT)
    return linear("attention gate", shape, shard.precision) + applied


def _compressions(shard: Shard) -> Work:
    """The compressions of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434).

    Tensor parallelism does not shard them: each rank applies them to its own rows. Without compressed queries, the
    queries are projected from the hidden state.
    """
    model, precision = shard.model, shard.precision
    keys = GemmShape(shard.rows, model.hidden, model.latent_kv + model.latent_rope)
    queries = GemmShape(shard.rows, model.hidden, model.latent_q)
    if not model.latent_q:
        queries = GemmShape(shard.tokens, model.hidden, _query_width(shard))
    return linear("key-value compression", keys, precision) + linear("query compression", queries, precision)


def _expansions(shard: Shard) -> Work:
    """The projections from the latents to heads."""
    model, precision = shard.model, shard.precision
    wide = GemmShape(shard.tokens, model.latent_kv, shard.heads * (model.head_dim + model.value_width))
    keys = linear("key-value expansion", wide, precision, Role.LIGHT)
    if not model.latent_q:
        return keys
    shape = GemmShape(shard.tokens, model.latent_q, _query_width(shard))
    return keys + linear("query expansion", shape, precision, Role.LIGHT)


def _query_width(shard: Shard) -> float:
    return shard.heads * (shard.model.head_dim + shard.model.latent_rope)


def output(shard: Shard) -> Work:
    """The weight matrix after the core."""
    shape = GemmShape(shard.tokens, shard.heads * shard.model.value_width, shard.model.hidden)
    return linear("attention output", shape, shard.precision)


def rotary(shard: Shard) -> Work:
    """Rotary embedding of queries and keys: each is read and written once in each pass."""
    elements = shard.tokens * (shard.heads + shard.kv_heads) * shard.model.head_dim
    moved = 2 * shard.width * elements
    return stream("rotary embedding", (moved, moved))


def core(shard: Shard, score_passes: tuple[float, float]) -> Work:
    """Scores, softmax and the weighted sum, as flash or as plain kernels.

    ``score_passes`` counts how often plain kernels read or write the whole score matrix between
    the two products, forward and backward.
    """
    if not shard.flash:
        return _plain(shard, score_passes)
    model = shard.model
    flops = formulas.core_flops(pairs(shard), shard.heads, model.head_dim + model.latent_rope, model.value_width)
    return flash(shard, flops)


def pairs(shard: Shard) -> float:
    """Unmasked pairs of one micro-batch on one rank; context parallelism balances them."""
    window = shard.model.window
    return within(shard, window.tokens if window and shard.mixer is Mixer.WINDOW else shard.length)


def within(shard: Shard, tokens: float) -> float:
    """Unmasked pairs where every query attends to the last ``tokens`` tokens."""
    return shard.sequences * formulas.causal_pairs(shard.length, tokens) / shard.cp


def flash(shard: Shard, flops: float) -> Work:
    """Flash kernels of ``flops`` operations: they skip masked blocks and recompute scores in the backward pass."""
    model = shard.model
    width_qk, width_v = model.head_dim + model.latent_rope, model.value_width
    elements = shard.tokens * (shard.heads * (width_qk + 2 * width_v) + 2 * shard.kv_heads * width_qk)
    moved = shard.width * elements
    shape = GemmShape(shard.length, width_v, shard.length, shard.sequences * shard.heads)
    there = Kernel("flash attention", flops, moved, "attention_forward", shape)
    back = Kernel(
        "flash attention: gradient",
        FLASH_BACKWARD * flops,
        FLASH_BACKWARD_TRAFFIC * moved,
        "attention_backward",
        shape,
        launches=2,
    )
    return Work((there,), (back,))


def _plain(shard: Shard, score_passes: tuple[float, float]) -> Work:
    """Plain kernels compute every pair, masked or not."""
    queries, batch, model = shard.length / shard.cp, shard.sequences * shard.heads, shard.model
    scores = product("scores", GemmShape(queries, model.head_dim, shard.length, batch), shard.kept)
    values = product("weighted values", GemmShape(queries, shard.length, model.value_width, batch), shard.kept)
    back = tuple(kernel._replace(name=f"{kernel.name}: gradient") for kernel in (scores, scores, values, values))
    apart = 1.0 * (batch % SOFTMAX_BATCHES != 0)
    passes = (once + apart * SOFTMAX_PASSES for once in score_passes)
    there, again = (formulas.score_traffic(queries, shard.length, batch, each) for each in passes)
    return Work((scores, values), back) + stream("softmax and dropout", (there, again), 3 + apart * SOFTMAX_STEPS)
