"""Tensor parallelism: the exchange of activations around each block."""

from __future__ import annotations

from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas.elementwise import divided
from clusterspec.cost.traffic.transfer import Transfer


def forward(shard: Shard, blocks: int, overlap_window: float) -> tuple[Transfer, ...]:
    """Each block of a layer gathers its input and scatters its output, or all-reduces its output.

    Korthikanti et al., arXiv 2205.05198, section 4: with sequence parallelism an all-gather and a reduce-scatter
    replace each all-reduce. ``blocks`` is 2 in a dense layer; ``overlap_window`` the seconds of GEMMs in the pass,
    which a framework may split to overlap them.
    """
    if not divided(shard.tp) or not blocks:
        return ()
    size, each = activations(shard), overlap_window / blocks
    if not shard.sequence_parallel:
        return (Transfer("tp", "all-reduce", size, blocks, each),)
    return tuple(Transfer("tp", name, size, blocks, each / 2) for name in ("all-gather", "reduce-scatter"))


def backward(shard: Shard, blocks: int, overlap_window: float) -> tuple[Transfer, ...]:
    """The transfers of the backward pass.

    With sequence parallelism the inputs are gathered once more for the weight gradients, overlapped with the GEMMs of
    the input gradients (Megatron-LM, core/tensor_parallel/layers.py).
    """
    mirror = forward(shard, blocks, overlap_window)
    if not mirror or not shard.sequence_parallel:
        return mirror
    return (
        *mirror,
        Transfer("tp", "all-gather", activations(shard), blocks, overlap_window / (2 * blocks), hidden_by_default=True),
    )


def activations(shard: Shard) -> float:
    """Bytes of one block's input for all the tokens of a tensor-parallel group."""
    return shard.width * shard.tokens * shard.model.hidden
