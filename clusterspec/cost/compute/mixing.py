"""Token mixing of one layer by part: softmax attention in its variants, a recurrence, or none."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost.compute import attention, compressed, index, recurrence
from clusterspec.cost.compute.fixed import SCORE_PASSES
from clusterspec.cost.compute.kernels import Work
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.layers import Mixer


def mixing(shard: Shard) -> Mapping[str, Work]:
    """The parts of a layer before its feed-forward network, in the order of the forward pass."""
    if shard.mixer is Mixer.NONE:
        return {}
    part = shard.model.linear
    if shard.mixer is Mixer.LINEAR and part:
        return {
            "projections": recurrence.projections(shard, part),
            "convolution": recurrence.convolution(shard, part),
            "core": recurrence.core(shard, part),
            "output": recurrence.output(shard, part),
        }
    return {
        "projections": _projections(shard),
        "rotary": attention.rotary(shard),
        "core": _core(shard),
        "output": _output(shard),
    }


def _projections(shard: Shard) -> Work:
    model = shard.model
    work = compressed.projections(shard, model.compressed) if model.compressed else attention.projections(shard)
    return work + index.projections(shard, model.sparse) if model.sparse else work


def _core(shard: Shard) -> Work:
    model = shard.model
    if not shard.flash or not (model.compressed or model.sparse):
        return attention.core(shard, SCORE_PASSES)
    scores = index.scores(shard, model.sparse) if model.sparse else Work()
    if model.compressed:
        return scores + compressed.core(shard, model.compressed)
    assert model.sparse is not None
    return scores + index.core(shard, model.sparse)


def _output(shard: Shard) -> Work:
    part = shard.model.compressed
    return compressed.output(shard, part) if part else attention.output(shard)
