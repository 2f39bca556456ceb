"""Work of the attention core: scores, softmax and the weighted sum of values.

All functions take floats or arrays; lengths in tokens, widths in elements.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import smaller


@formula("length * min(window, length) - min(window, length) * min(window, length) / 2")
def causal_pairs(length: float, window: float) -> float:
    """Query-key pairs under a causal mask in one sequence: s²/2, or s w − w²/2 with a window w.

    The diagonal counts half, which is what a kernel that skips masked blocks does for long
    sequences. ``window`` is the length itself where attention is full.

    >>> causal_pairs(8.0, 8.0), causal_pairs(8.0, 2.0)
    (32.0, 14.0)
    """
    span = smaller(window, length)
    return length * span - span * span / 2


@formula("2 * pairs * heads * (width_qk + width_v)")
def core_flops(pairs: float, heads: float, width_qk: float, width_v: float) -> float:
    """Forward operations of the two products over ``pairs``: F = 2 p a (d_qk + d_v).

    The backward pass of plain attention takes twice that, of flash attention two and a half
    times, since it computes the scores again (Dao, "FlashAttention-2", arXiv 2307.08691).

    >>> core_flops(16, 1, 4, 4)
    256
    """
    return 2 * pairs * heads * (width_qk + width_v)


@formula("width * passes * heads * queries * keys")
def score_traffic(queries: float, keys: float, heads: float, passes: float, width: float = 2) -> float:
    """Bytes that plain attention moves for its score matrices: B = w n a s_q s_k.

    ``passes`` (n) counts reads and writes of the whole matrix.

    >>> score_traffic(4, 4, 2, 3)
    192
    """
    return width * passes * heads * queries * keys
