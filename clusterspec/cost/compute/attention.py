"""The attention block of one layer: projections, rotary embedding, the core, and its latent form."""

from __future__ import annotations

from clusterspec.cost.compute.kernels import Kernel, Work, linear, product, stream
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.formulas import attention as formulas

FLASH_BACKWARD = 2.5
"""Products in the backward pass of flash attention over those of the forward pass: five, two of them again (arXiv 2307.08691)."""
ACTIVATION = 2.0
"""Bytes of an activation between kernels: 16-bit whatever the precision of the linear layers."""


def projections(portion: Portion) -> Work:
    """The weight matrices before the core."""
    model = portion.model
    if model.latent:
        return _latent_projections(portion)
    width = (portion.heads + 2 * portion.kv_heads) * model.head_dim
    return linear("query, key, value", portion.tokens, model.hidden, width, portion.precision)


def _latent_projections(portion: Portion) -> Work:
    """Multi-head latent attention compresses queries and key-values first (DeepSeek-V2, arXiv 2405.04434).

    The compressions are not cut by tensor parallelism; each rank applies them to its own rows.
    """
    model = portion.model
    wide = portion.heads * (model.head_dim + model.latent_rope)
    down = linear(
        "key-value compression", portion.rows, model.hidden, model.latent_kv + model.latent_rope, portion.precision
    )
    return down + _latent_queries(portion, wide) + latent_up(portion)


def _latent_queries(portion: Portion, width: float) -> Work:
    model = portion.model
    if not model.latent_q:
        return linear("query", portion.tokens, model.hidden, width, portion.precision)
    return linear("query compression", portion.rows, model.hidden, model.latent_q, portion.precision)


def latent_up(portion: Portion) -> Work:
    """The expansions of multi-head latent attention, which selective recomputation runs again."""
    model = portion.model
    keys = linear(
        "key-value expansion", portion.tokens, model.latent_kv, 2 * portion.heads * model.head_dim, portion.precision
    )
    if not model.latent_q:
        return keys
    wide = portion.heads * (model.head_dim + model.latent_rope)
    return keys + linear("query expansion", portion.tokens, model.latent_q, wide, portion.precision)


def output(portion: Portion) -> Work:
    """The weight matrix after the core."""
    return linear(
        "attention output",
        portion.tokens,
        portion.heads * portion.model.head_dim,
        portion.model.hidden,
        portion.precision,
    )


def rotary(portion: Portion) -> Work:
    """Rotary embedding of queries and keys: each read and written once in each pass."""
    elements = portion.tokens * (portion.heads + portion.kv_heads) * portion.model.head_dim
    traffic = 2 * ACTIVATION * elements
    return stream("rotary embedding", traffic, traffic)


def core(portion: Portion, score_passes: tuple[float, float]) -> Work:
    """Scores, softmax and the weighted sum, as flash or as plain kernels.

    ``score_passes`` counts how often plain kernels read or write the whole score matrix between
    the two products, forward and backward.
    """
    return _flash(portion) if portion.flash else _plain(portion, score_passes)


def _widths(portion: Portion) -> tuple[int, int]:
    model = portion.model
    return model.head_dim + model.latent_rope, model.head_dim


def pairs(portion: Portion) -> float:
    """Unmasked pairs of one micro-batch on one rank; context parallelism balances them."""
    window = min(portion.model.attention_window or portion.length, portion.length)
    return float(portion.sequences * formulas.causal_pairs(portion.length, window) / portion.cp)


def _flash(portion: Portion) -> Work:
    width_qk, width_v = _widths(portion)
    flops = formulas.core_flops(pairs(portion), portion.heads, width_qk, width_v)
    elements = portion.tokens * (portion.heads * (width_qk + 2 * width_v) + 2 * portion.kv_heads * width_qk)
    shape = (portion.length, width_v, portion.length, portion.sequences * portion.heads)
    return Work(
        (Kernel("flash attention", flops, ACTIVATION * elements, "attention_forward", shape),),
        (
            Kernel(
                "flash attention backward",
                FLASH_BACKWARD * flops,
                2.5 * ACTIVATION * elements,
                "attention_backward",
                shape,
                2,
            ),
        ),
    )


def _plain(portion: Portion, score_passes: tuple[float, float]) -> Work:
    """Plain kernels compute every pair, masked or not."""
    queries, batch, d = portion.length / portion.cp, portion.sequences * portion.heads, portion.model.head_dim
    scores = product("scores", queries, d, portion.length, portion.kept, batch)
    values = product("weighted values", queries, portion.length, d, portion.kept, batch)
    back = tuple(kernel._replace(name=f"{kernel.name} gradient") for kernel in (scores, scores, values, values))
    forward, backward = (_scores(portion, passes) for passes in score_passes)
    softmax = stream("softmax and dropout", forward, backward, launches=3)
    return Work((scores, values), back) + softmax


def _scores(portion: Portion, passes: float) -> float:
    return float(
        formulas.score_traffic(portion.length / portion.cp, portion.length, portion.sequences * portion.heads, passes)
    )
