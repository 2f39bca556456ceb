"""Memory: bytes on the fullest accelerator by category."""

from __future__ import annotations

from math import inf

from clusterspec.cluster.model import Assumption, Cluster, Design, Layout, Workload
from clusterspec.cluster.stages import of_engines
from clusterspec.cost.memory import peak_memory
from clusterspec.cost.memory.fullest import shortlist
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.peak_memory import LayerMemory, RankMemory
from clusterspec.cost.memory.rank import Layers, Rank
from clusterspec.cost.stages import StageGroup, stage_groups
from clusterspec.cost.term import MemoryUse
from clusterspec.origin import Computed
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, replace
from clusterspec.summation import sum_of

__all__ = ["Memory", "memory", "spare_cache", "use"]


class Memory(NamedTuple):
    """Memory as numbers: the fullest rank, the ranks per accelerator, and its capacity in bytes."""

    job: Job
    rank: RankMemory
    ranks: int
    capacity: Figure | None

    @property
    def total(self) -> float:
        """Bytes on the fullest accelerator, all its ranks together."""
        return self.rank.total * self.ranks

    @property
    def upper(self) -> float:
        """Bytes on that accelerator at the high end of the range."""
        return self.rank.upper * self.ranks


def memory(design: Design) -> Memory | None:
    """Memory of a design; None where it lacks a cluster, a workload, a layout, or `stage_layers`.

    The fullest rank is that of the pipeline stage whose sum is the largest.
    """
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None:
        return None
    capacity = _capacity(cluster, workload)
    limit = capacity.value / cluster.ranks_per_accelerator if capacity else inf
    found = [each for job in _jobs(design, workload, layout) for each in _stages(job, limit)]
    if not found:
        return None
    job, fullest = max(found, key=lambda each: each[1].total)
    return Memory(job, fullest, cluster.ranks_per_accelerator, capacity)


def _jobs(design: Design, workload: Workload, layout: Layout) -> list[Job]:
    """The job of the layout, and that of separate prefill engines, which hold one request per replica."""
    jobs = [Job.of(design, workload, layout)]
    serving = workload.serving
    if serving is not None and serving.prefill is not None:
        other = of_engines(layout, serving.prefill, workload.model.layers)
        single = replace(serving, concurrency=other.data_ranks)
        jobs.append(Job.of(design, replace(workload, serving=single), other))
    return jobs


def _stages(job: Job, limit: float) -> list[tuple[Job, RankMemory]]:
    """Memory of the candidate stages for the fullest."""
    groups = stage_groups(job.model, job.layout)
    layers: dict[frozenset[Layers], LayerMemory] = {}
    return [(job, _of(job, group, limit, layers)) for group in shortlist(job, groups)] if groups else []


def _of(job: Job, group: StageGroup, limit: float, layers: dict[frozenset[Layers], LayerMemory]) -> RankMemory:
    """Memory of one rank in a group of equal stages; ``limit`` is the bytes available to it, ``layers`` a cache of
    layer memory.
    """
    rank = Rank.of(job, group.first, group.chunks)
    if job.workload.kind == "serve":
        return peak_memory.serve(job, rank, group.chunks, limit)
    if rank.kinds not in layers:
        layers[rank.kinds] = LayerMemory.of(job, rank.kinds)
    return peak_memory.filled(job, rank, layers[rank.kinds])


def _capacity(cluster: Cluster, workload: Workload) -> Figure | None:
    """Memory of one accelerator in bytes; in serving, the share of it available to weights and cache."""
    whole = cluster.accelerator.memory
    if whole is None or workload.serving is None:
        return whole
    if workload.serving.of_free:
        return whole
    share = workload.serving.memory_fraction
    return Figure(whole.value * share, whole.unit, Computed(f"memory × memory_fraction {share:g}"))


def use(design: Design) -> tuple[MemoryUse | None, tuple[Assumption, ...]]:
    """Bytes on the fullest accelerator as terms, and the assumptions made; None where `memory` is None."""
    from clusterspec.cost.memory.assumptions import assumptions
    from clusterspec.cost.memory.explain import explained

    found = memory(design)
    if found is None:
        return None, ()
    return explained(design, found.rank, found.ranks, found.capacity), assumptions(found.job, found.rank)


def spare_cache(memory: Memory) -> float:
    """Bytes of the cache on the fullest accelerator beyond those of one request of full length.

    A request of full length has at most twice the cache of a request of mean length, with half of its output.
    """
    return (
        sum_of(each.value * max(0.0, 1 - 2 / each.numbers["count"]) for each in memory.rank.activations) * memory.ranks
    )
