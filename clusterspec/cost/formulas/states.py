"""Bytes of model states per weight, and their sharding.

All functions take floats or arrays; counts of weights are those of one rank before data-parallel sharding, precisions
are bytes per number.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import smaller


@formula("weights * width / ranks")
def sharded(weights: float, width: float, ranks: float) -> float:
    """Bytes of one state of ``weights`` numbers, of ``width`` bytes each, cut over ``ranks``: B = P w / n.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 5.

    >>> sharded(7.5e9, 12, 64)
    1406250000.0
    """
    return weights * width / ranks


@formula("weights * (weight + gradient) + weights * states / ranks")
def adam_bytes(weights: float, ranks: float, weight: float = 2, gradient: float = 2, states: float = 12) -> float:
    """Bytes of mixed-precision Adam with its states cut over ranks (ZeRO-1): B = P (w + g + K / n).

    K is the master weight and two moments in fp32, 12 bytes. With fp32 gradients (g = 4) this is
    the 6 + 12 / n of Megatron's distributed optimizer.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, figure 1.

    >>> round(adam_bytes(7.5e9, 64) / 1e9, 1), adam_bytes(1, 1, gradient=4)
    (31.4, 18.0)
    """
    return weights * (weight + gradient) + sharded(weights, states, ranks)


@formula("weights * width")
def checkpoint_bytes(weights: float, width: float = 14) -> float:
    """Bytes of a checkpoint: B = P w, with weights in bf16 and, for Adam, weights and two moments in fp32.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 3.1, without the gradients.

    >>> checkpoint_bytes(70.6e9) / 1e9
    988.4
    """
    return weights * width


@formula("width * min(at_once, units) * unit")
def gathered_units(unit: float, units: float, at_once: float = 2, width: float = 2) -> float:
    """Bytes of the layers that fully sharded data parallelism has gathered: B = w min(k, L) u.

    u is the number of weights of one layer, k the number of gathered layers: the current one and those prefetched.

    Source: Zhao et al., "PyTorch FSDP", VLDB 2023, arXiv 2304.11277, section 3.

    >>> gathered_units(1e9, 80), gathered_units(1e9, 1)
    (4000000000.0, 2000000000.0)
    """
    return width * smaller(at_once, units) * unit
