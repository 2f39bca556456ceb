"""Computation outside the layers: embedding, logits, loss, and the optimizer step."""

from __future__ import annotations

from clusterspec.cost.compute.fixed import LOSS_FORWARD
from clusterspec.cost.compute.kernels import GemmShape, Work, accumulation, linear, stream
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.optimizer_states import MOMENTS
from clusterspec.precision import width


def embedding(shard: Shard) -> Work:
    """The lookup of every token, and the accumulation of its gradient at twice the width."""
    moved = shard.width * shard.rows * shard.model.hidden
    return stream("embedding", (2 * moved, 4 * moved), 2)


def head(shard: Shard, loss: float, summed: float) -> Work:
    """The last norm, the logits in 16 bits, and the loss.

    ``loss`` is the bytes moved per logit, ``summed`` the bytes to accumulate the gradient of one weight.
    """
    width = shard.model.vocab / shard.tp
    norm = 2 * shard.width * shard.rows * shard.model.hidden
    logits = linear("logits", GemmShape(shard.tokens, shard.model.hidden, width), shard.kept)
    moved = loss * shard.tokens * width
    losses = stream("loss", (LOSS_FORWARD * moved, (1 - LOSS_FORWARD) * moved), 4)
    return stream("last norm", (norm, 2 * norm)) + logits + accumulation(logits, summed) + losses


def update_traffic(optimizer: str, master: str, moments: str, gradient: str, parameter: str) -> float:
    """Bytes that one parameter's update reads and writes.

    Moments and master copy are read and written, the gradient is read twice (once for its norm),
    the parameter is written, and read where there is no master copy.

    >>> update_traffic("adam", "fp32", "fp32", "fp32", "bf16")
    34.0
    """
    states = 2 * MOMENTS[optimizer] * width(moments) + 2 * width(master)
    kept = width(parameter)
    return states + 2 * width(gradient) + (kept if width(master) else 2 * kept)
