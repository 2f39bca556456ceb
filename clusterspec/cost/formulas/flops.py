"""How many floating-point operations a transformer takes, counted as matrix products.

A product of (m × k) by (k × n) counts 2·m·k·n. The backward pass of a product takes two of the
same size (for the input's gradient and for the weights'), so forward and backward count three.
"""

from __future__ import annotations

from typing import Any

Number = Any
"""A float, or an array of floats."""


def product_flops(tokens: Number, weights: Number) -> Number:
    """Forward FLOPs of tokens through a matrix: ``F = 2·t·P``, with P its number of weights.

    Source: Kaplan et al., *Scaling Laws*, 2020 (arXiv 2001.08361), section 2.1.

    >>> product_flops(1, 8.03e9)
    16060000000.0
    """
    return 2 * tokens * weights


def scores_flops(tokens: Number, keys: Number, heads: Number, head_dim: Number) -> Number:
    """Forward FLOPs of queries times keys: ``F = 2·t·s·a·d``.

    ``keys`` is the number of keys that each query is multiplied with: the sequence length where
    nothing is skipped, half of it where a causal kernel skips what the mask hides.

    Source: Korthikanti et al., 2022 (arXiv 2205.05198), appendix A.

    >>> scores_flops(1, 8192, 32, 128)
    67108864
    """
    return 2 * tokens * keys * heads * head_dim


def values_flops(tokens: Number, keys: Number, heads: Number, head_dim: Number) -> Number:
    """Forward FLOPs of probabilities times values: ``F = 2·t·s·a·d``, d being the values' width.

    Source: Korthikanti et al., 2022 (arXiv 2205.05198), appendix A.

    >>> values_flops(1, 8192, 32, 128)
    67108864
    """
    return 2 * tokens * keys * heads * head_dim


def unmasked_attention_flops(layers: Number, heads: Number, qk_dim: Number, v_dim: Number, sequence: Number) -> Number:
    """FLOPs per token of all attention scores and values, forward and backward, as if unmasked.

    ``F = 6·L·a·(d_qk + d_v)·s``, which is ``12·L·h·s`` where the heads together are as wide as
    the hidden state and queries as wide as values. Sliding windows and causal masks do not
    lower it: it is a convention for comparing machines, not the work done.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B.

    >>> unmasked_attention_flops(80, 64, 128, 128, 8192) == 12 * 80 * 8192 * 8192
    True
    """
    return 6 * layers * heads * (qk_dim + v_dim) * sequence


def model_flops_per_token(weights: Number, attention: Number) -> Number:
    """FLOPs of the model per token, forward and backward: ``F = 6·P + A``.

    P are the weights that a token is multiplied with (the output head among them, the embedding
    table not, of the experts those that the token visits) and A its unmasked attention.
    Recomputation is no part of it.

    Source: PaLM, 2022 (arXiv 2204.02311), appendix B; Narayanan et al., 2021 (arXiv 2104.04473).

    >>> model_flops_per_token(7.5e9, 0)
    45000000000.0
    """
    return 6 * weights + attention


def recomputed_flops(forward: Number, share: Number) -> Number:
    """FLOPs added by activation recomputation: a share of the forward pass done again, ``F·r``.

    r is 1 for full recomputation; in selective recomputation it is what the recomputed
    operations are of the forward pass.

    Source: Korthikanti et al., 2022 (arXiv 2205.05198), section 5.

    >>> recomputed_flops(2e12, 1)
    2000000000000.0
    """
    return forward * share
