"""Bytes of model states per weight, and their sharding.

All functions take floats or arrays; counts of weights are those of one rank before data-parallel sharding, precisions
are bytes per number.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("weights * width / ranks")
def sharded(weights: float, width: float, ranks: float) -> float:
    """Bytes of one state of ``weights`` numbers, of ``width`` bytes each, cut over ``ranks``: B = P w / n.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 5.

    >>> sharded(7.5e9, 12, 64)
    1406250000.0
    """
    return weights * width / ranks


@formula("weights * width")
def checkpoint_bytes(weights: float, width: float = 14) -> float:
    """Bytes of a checkpoint: B = P w, with weights in bf16 and, for Adam, weights and two moments in fp32.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 3.1, without the gradients.

    >>> checkpoint_bytes(70.6e9) / 1e9
    988.4
    """
    return weights * width
