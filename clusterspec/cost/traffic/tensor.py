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
    gather = 1 if portion.rows < portion.tokens else 0
    return _around(portion, blocks, room, gather)


def backward(portion: Portion, blocks: int, room: float) -> tuple[Flow, ...]:
    """The mirror of the forward pass; with sequence parallelism the inputs are gathered once more."""
    gathers = 2 if portion.rows < portion.tokens else 0
    return _around(portion, blocks, room, gathers)


def _around(portion: Portion, blocks: int, room: float, gathers: int) -> tuple[Flow, ...]:
    if portion.tp == 1:
        return ()
    size, each = activations(portion), room / (blocks * (gathers + 1))
    if not gathers:
        return (Flow("tp", "all-reduce", size, blocks, each),)
    gather = Flow("tp", "all-gather", size, blocks * gathers, each)
    return (gather, Flow("tp", "reduce-scatter", size, blocks, each))


def activations(portion: Portion) -> float:
    """Bytes of one block's input for all the tokens of a tensor-parallel group."""
    return ACTIVATION * portion.tokens * portion.model.hidden
