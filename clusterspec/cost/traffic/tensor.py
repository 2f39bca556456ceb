"""Tensor parallelism: the activations that its ranks exchange around each block."""

from __future__ import annotations

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.traffic.flow import Flow


def forward(portion: Portion, blocks: int) -> tuple[Flow, ...]:
    """Each block of a layer gathers its input and scatters its output, or reduces it to all.

    Korthikanti et al., arXiv 2205.05198, section 4: with sequence parallelism an all-gather and
    a reduce-scatter stand for each all-reduce. ``blocks`` is 2 in a dense layer.
    """
    if portion.tp == 1 or not blocks:
        return ()
    size = activations(portion)
    if portion.rows == portion.tokens:
        return (Flow("tp", "all-reduce", size, blocks),)
    return (Flow("tp", "all-gather", size, blocks), Flow("tp", "reduce-scatter", size, blocks))


def backward(portion: Portion, blocks: int, room: float) -> tuple[Flow, ...]:
    """The mirror of the forward pass; with sequence parallelism the inputs are gathered once more.

    ``room`` is the weight-gradient product that a framework may run beside the input gradient's
    reduction, or the gathering of the input.
    """
    if portion.tp == 1 or not blocks:
        return ()
    size = activations(portion)
    if portion.rows == portion.tokens:
        return (Flow("tp", "all-reduce", size, blocks, room),)
    return (
        Flow("tp", "all-gather", size, blocks),
        Flow("tp", "reduce-scatter", size, blocks, room),
        Flow("tp", "all-gather", size, blocks, room),
    )


def activations(portion: Portion) -> float:
    """Bytes of one block's input for all the tokens of a tensor-parallel group."""
    return ACTIVATION * portion.tokens * portion.model.hidden
