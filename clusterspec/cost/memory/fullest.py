"""The pipeline stage whose ranks hold most."""

from __future__ import annotations

from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory.in_flight import in_flight
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.rank import Layers, passes

SHORTLIST = 4
"""Stages looked at for each reason that one may be the fullest."""


def shortlist(job: Job, held: tuple[tuple[Chunk, ...], ...]) -> list[int]:
    """Stages of which one is the fullest: both ends, those with most layers, and those with most in flight.

    Of stages that hold the same, the earliest has most in flight.
    """
    first_of: dict[tuple[Chunk, ...], int] = {}
    for stage, chunks in enumerate(held):
        first_of.setdefault(chunks, stage)
    stages = list(first_of.values())

    def layers(stage: int) -> float:
        return sum(chunk.layers for chunk in held[stage])

    def flying(stage: int) -> float:
        counts = in_flight(job.layout, stage, held[stage], job.micro_batches)
        return passes(held[stage], counts)[Layers.ALL]

    most_layers = sorted(stages, key=layers, reverse=True)[:SHORTLIST]
    most_flying = sorted(stages, key=flying, reverse=True)[:SHORTLIST]
    return sorted({0, len(held) - 1, *most_layers, *most_flying})
