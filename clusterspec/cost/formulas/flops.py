"""The FLOPs of a model by the field's convention: what MFU divides by the peak.

A product of (m × k) by (k × n) counts 2·m·k·n. The backward pass of a product takes two of the
same size (for the input's gradient and for the weights'), so forward and backward count three.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("6 * layers * heads * (qk_dim + v_dim) * sequence")
def unmasked_attention_flops(layers: float, heads: float, qk_dim: float, v_dim: float, sequence: float) -> float:
    """FLOPs per token of all attention scores and values, forward and backward, as if unmasked.

    ``F = 6·L·a·(d_qk + d_v)·s``, which is ``12·L·h·s`` where the heads together are as wide as
    the hidden state and queries as wide as values. Causal masks do not lower it: it is a
    convention for comparing machines, not the work done. Where a window or an index bounds the
    tokens that one attends to, s is that bound.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B.

    >>> unmasked_attention_flops(80, 64, 128, 128, 8192) == 12 * 80 * 8192 * 8192
    True
    """
    return 6 * layers * heads * (qk_dim + v_dim) * sequence


@formula("6 * weights + attention")
def model_flops_per_token(weights: float, attention: float) -> float:
    """FLOPs of the model per token, forward and backward: ``F = 6·P + A``.

    P are the weights that a token is multiplied with (the output head among them, the embedding
    table not, of the experts those that the token visits) and A its unmasked attention.
    Recomputation is no part of it.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B; Narayanan et al., 2021 (arXiv 2104.04473).

    >>> model_flops_per_token(7.5e9, 0)
    45000000000.0
    """
    return 6 * weights + attention
