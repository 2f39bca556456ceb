"""Tensor parallelism: the activations that its ranks exchange around each block."""

from __future__ import annotations

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.traffic.flow import Flow


def forward(portion: Portion, blocks: int, room: float) -> tuple[Flow, ...]:
    """Each block of a layer gathers its input and scatters its output, or reduces it to all.

    Korthikanti et al., arXiv 2205.05198, section 4: with sequence parallelism an all-gather and
    a reduce-scatter stand for each all-reduce. ``blocks`` is 2 in a dense layer; ``room`` the
    seconds of products in the pass, which a framework may cut up and run beside them.
    """
    if portion.tp == 1:
        return ()
    size, each = activations(portion), room / blocks
    if portion.rows == portion.tokens:
        return (Flow("tp", "all-reduce", size, blocks, each),)
    return tuple(Flow("tp", name, size, blocks, each / 2) for name in ("all-gather", "reduce-scatter"))


def backward(portion: Portion, blocks: int, room: float) -> tuple[Flow, ...]:
    """The mirror of the forward pass.

    With sequence parallelism the inputs are gathered once more for the weight gradients, beside the
    products of the input gradients (Megatron-LM, core/tensor_parallel/layers.py).
    """
    mirror = forward(portion, blocks, room)
    if portion.tp == 1 or portion.rows == portion.tokens:
        return mirror
    return (*mirror, Flow("tp", "all-gather", activations(portion), blocks, room / (2 * blocks), unasked=True))


def activations(portion: Portion) -> float:
    """Bytes of one block's input for all the tokens of a tensor-parallel group."""
    return ACTIVATION * portion.tokens * portion.model.hidden
