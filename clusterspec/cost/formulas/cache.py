"""State kept per sequence in serving, per layer and in elements.

Layers with full attention keep every token, layers with a window the last ones, layers with linear attention a state of
constant size (`linear_attention`).
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import smaller


@formula("min(tokens, window)")
def cached_tokens(tokens: float, window: float) -> float:
    """Tokens of a sequence that a layer with a window keeps: ``n = min(s, w)``.

    Source: Beltagy et al., *Longformer*, 2020 (arXiv 2004.05150); Mistral 7B (arXiv 2310.06825), section 2.

    >>> cached_tokens(8192.0, 1024), cached_tokens(512.0, 1024)
    (1024.0, 512.0)
    """
    return smaller(tokens, window)


@formula("kv_heads * (key_dim + value_dim)")
def key_value_width(kv_heads: float, key_dim: float, value_dim: float) -> float:
    """Elements that one layer keeps of a token: ``c = k·(d_k + d_v)``.

    Source: Pope et al., 2022 (arXiv 2211.05102), section 3.3.

    >>> key_value_width(8, 128, 128)
    2048
    """
    return kv_heads * (key_dim + value_dim)
