"""Bytes of one rank other than states and standard activations: inputs, buffers, gathered weights.

All functions accept columns. ``width`` is bytes per number, ``ranks`` the number of ranks that shard a tensor.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import smaller


@formula("width * tokens * elements / ranks")
def tensor_bytes(tokens: float, elements: float, ranks: float, width: float = 2) -> float:
    """One tensor with ``elements`` for each token: B = w t e / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.

    >>> tensor_bytes(2048, 12288, 8)
    6291456.0
    """
    return width * tokens * elements / ranks


@formula("routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)")
def expert_bytes(
    routed: float, hidden: float, ffn: float, matrices: float, ranks: float, *, width: float = 2, kept: float = 2
) -> float:
    """Inputs and intermediate results of experts for ``routed`` tokens: B = n (h k + f (w (m − 1) + k) / r).

    Source: Fedus et al., "Switch Transformers", arXiv 2101.03961, section 2.2.

    >>> expert_bytes(1, 4096, 14336, 3, 1)
    94208.0
    """
    return routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)


@formula("recomputed + width * tokens * (matrices * widest + 2 * hidden / ranks)")
def backward_bytes(
    recomputed: float, tokens: float, widest: float, *, hidden: float, matrices: float, ranks: float, width: float = 2
) -> float:
    """Memory of one layer's backward pass beyond stored activations: recomputed activations and gradients.

    B = a + w t (m e + 2 h / r): gradients of the widest tensors (e) of m matrices, of the layer's input and output.

    Source: Korthikanti et al., arXiv 2205.05198, section 5.

    >>> backward_bytes(1000, 1, 28672, hidden=8192, matrices=3, ranks=1)
    205800.0
    """
    return recomputed + width * tokens * (matrices * widest + 2 * hidden / ranks)


@formula("width * min(min(at_once, units) * unit, live)")
def gathered_bytes(unit: float, units: float, at_once: float, live: float, width: float = 2) -> float:
    """Weights gathered by full sharding, where the framework limits them: B = w min(min(k, L) u, n).

    Source: Rajbhandari et al., "ZeRO-Infinity", arXiv 2104.07857, section 5 (``stage3_max_live_parameters``).

    >>> gathered_bytes(8e8, 80, 2, 1e9)
    2000000000.0
    """
    return width * smaller(smaller(at_once, units) * unit, live)


@formula("(width + reduced) * min(unit, live)")
def reduced_bytes(unit: float, live: float, reduced: float, width: float = 2) -> float:
    """The full gradient of one unit, and its copy in the reduction: B = (w + r) min(u, n).

    Source: Zhao et al., "PyTorch FSDP", VLDB 2023, arXiv 2304.11277, section 4.3.

    >>> reduced_bytes(1e9, 1e12, 4)
    6000000000.0
    """
    return (width + reduced) * smaller(unit, live)


@formula("width * min(buckets, 2 * weights)")
def bucket_bytes(buckets: float, weights: float, width: float = 2) -> float:
    """Flat buffers in which gradients are reduced and weights gathered: B = w min(b, 2 P).

    Source: DeepSpeed configuration, ``reduce_bucket_size`` and ``allgather_bucket_size``.

    >>> bucket_bytes(1e9, 1e8)
    400000000.0
    """
    return width * smaller(buckets, 2 * weights)


@formula("count * each")
def several(count: float, each: float) -> float:
    """The bytes of several buffers of one size: B = n b.

    Source: arithmetic.

    >>> several(4, 250e6)
    1000000000.0
    """
    return count * each


@formula("tokens * (width * queries + 4 * chosen)")
def index_bytes(tokens: float, queries: float, chosen: float, *, width: float = 2) -> float:
    """Queries of a sparse index, and the selected tokens as 32-bit numbers: B = t (w q + 4 n).

    Source: DeepSeek-V3.2, arXiv 2512.02556, section 2.1.

    >>> index_bytes(2048, 8192, 2048)
    50331648
    """
    return tokens * (width * queries + 4 * chosen)


@formula("width * tokens * (4 * keys + 5 * values) / ranks")
def recurrence_bytes(tokens: float, keys: float, values: float, ranks: float, *, width: float = 2) -> float:
    """Activations of linear attention: convolution, recurrence, gate and norm: B = w t (4 k + 5 v) / r.

    Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464, section 3.

    >>> recurrence_bytes(2048, 256, 256, 1)
    9437184.0
    """
    return width * tokens * (4 * keys + 5 * values) / ranks
