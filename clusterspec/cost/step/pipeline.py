"""Pipeline stages and schedules: the slowest stage, idle time, and sends between stages.

All functions take numbers or columns; the schedule is one choice for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cost.compute.fixed import WEIGHT_SHARE
from clusterspec.cost.constants import assumed
from clusterspec.cost.formulas import pipeline
from clusterspec.cost.formulas.elementwise import chosen
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

HIDES_SENDS = frozenset({"interleaved", "zero-bubble", "dualpipe"})
"""Schedules that can overlap sends between stages with computation."""
DUALPIPE_SHARE = assumed(
    "schedules",
    "dualpipe.chunk",
    0.5,
    "micro-batches that a chunk of DualPipe runs, over all: a rank holds two chunks (arXiv 2412.19437, figure 5)",
).value


class StageTime(NamedTuple):
    """Seconds of one micro-batch, by pass: on a part of the model, or on a stage."""

    forward: float
    backward: float
    recomputation: float

    @property
    def return_time(self) -> float:
        """Seconds of recomputation and the backward pass."""
        return self.backward + self.recomputation

    @property
    def total(self) -> float:
        return self.forward + self.return_time


def stage_time(parts: Sequence[tuple[StageTime, float]], share: float) -> StageTime:
    """One micro-batch through the parts of a stage, each with its count; ``share`` of the micro-batches run there."""
    forward = share * sum_of(count * part.forward for part, count in parts)
    backward = share * sum_of(count * part.backward for part, count in parts)
    return StageTime(forward, backward, share * sum_of(count * part.recomputation for part, count in parts))


def slowest(stages: Sequence[StageTime]) -> tuple[StageTime, float]:
    """The first of the slowest stages, and its index."""
    best, index = stages[0], 0.0
    for other, stage in enumerate(stages[1:], 1):
        longer = stage.total > best.total
        best = StageTime(*(chosen(longer, new, old) for new, old in zip(stage, best, strict=True)))
        index = chosen(longer, float(other), index)
    return best, index


def idle(schedule: str, stages: float, virtual_stages: float, stage: StageTime, every: float) -> float:
    """Idle seconds of the slowest stage; ``every`` sums one micro-batch over all stages."""
    weight = stage.backward * WEIGHT_SHARE
    if schedule == "zero-bubble":
        return pipeline.zero_bubble(stages, stage.forward, stage.return_time - weight, weight)
    if schedule == "dualpipe":
        return pipeline.dualpipe(stages, stage.total, stage.return_time, weight)
    return pipeline.fill_and_drain(every, stage.total, virtual_stages)
