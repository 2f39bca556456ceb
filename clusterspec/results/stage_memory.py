"""The memory of each pipeline stage, part by part."""

from __future__ import annotations

from typing import Any

from clusterspec.cost import memory
from clusterspec.cost.layers import stage_groups
from clusterspec.cost.memory.explain import explained
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.rank import Rank
from clusterspec.cost.plan import Plan
from clusterspec.records import asdict, dataclass

MOST = 16
"""Stages that are listed; of more, evenly spaced ones with both ends."""


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Memory in bytes of an accelerator of a pipeline stage; stages count from 1."""

    stage: int
    weights: float
    gradients: float
    activations: float
    optimizer: float
    other: float
    total: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def stage_memory(plan: Plan) -> tuple[StageMemory, ...]:
    """The stages of a training layout with two or more; empty otherwise."""
    design = plan.design
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "train" or layout.pp < 2:
        return ()
    job = Job.of(design, work, layout)
    chunks = {
        stage: group.chunks
        for group in stage_groups(job.model, job.layout)
        for stage in range(group.first, group.first + group.count)
    }
    found = []
    for stage in _shown(len(chunks)):
        rank = Rank.of(job, stage, chunks[stage])
        filled = memory.filled(job, rank, memory.LayerMemory.of(job, rank.kinds))
        use = explained(design, filled, cluster.ranks_per_accelerator, None)
        parts = (use.weights, use.gradients, use.activations, use.optimizer, use.other, use.total)
        found.append(StageMemory(stage + 1, *(part.value for part in parts)))
    return tuple(found)


def _shown(stages: int) -> list[int]:
    """The stages that are listed.

    >>> _shown(3), len(_shown(100)), _shown(100)[-1]
    ([0, 1, 2], 16, 99)
    """
    if stages <= MOST:
        return list(range(stages))
    return [round(number * (stages - 1) / (MOST - 1)) for number in range(MOST)]
