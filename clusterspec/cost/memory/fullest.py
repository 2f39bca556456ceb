"""The pipeline stages that may hold the most memory."""

from __future__ import annotations

from clusterspec.cluster.model import Layout
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory.in_flight import in_flight
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.rank import Layers, passes
from clusterspec.cost.stages import StageGroup

MOST = 64
"""The highest number of groups that are all evaluated; no published pipeline has so many."""
SHORTLIST = 16
"""Groups of a longer pipeline that are evaluated for each criterion."""


def distinct(layout: Layout, groups: tuple[StageGroup, ...]) -> tuple[StageGroup, ...]:
    """The groups without those that hold the same chunks as an earlier one, which has at least as many micro-batches in
    flight. In DualPipe all of them.
    """
    if layout.schedule == "dualpipe":
        return groups
    found: dict[tuple[Chunk, ...], StageGroup] = {}
    for group in groups:
        found.setdefault(group.chunks, group)
    return tuple(found.values())


def shortlist(job: Job, groups: tuple[StageGroup, ...]) -> list[StageGroup]:
    """Groups of equal stages among which the fullest is.

    All that differ; in very long pipelines both ends, the groups with the most layers, and those with the most
    micro-batches in flight. The first stage of a group has the most in flight.
    """
    groups = distinct(job.layout, groups)
    if len(groups) <= MOST:
        return list(groups)

    def layers(group: StageGroup) -> float:
        return sum(chunk.layers for chunk in group.chunks)

    def held(group: StageGroup) -> float:
        counts = in_flight(job.layout, group.first, group.chunks, job.micro_batches)
        return passes(group.chunks, counts)[Layers.ALL]

    most_layers = sorted(groups, key=layers, reverse=True)[:SHORTLIST]
    most_held = sorted(groups, key=held, reverse=True)[:SHORTLIST]
    chosen = {group.first: group for group in (groups[0], groups[-1], *most_layers, *most_held)}
    return [chosen[first] for first in sorted(chosen)]
