"""Memory: bytes on the fullest accelerator, part by part."""

from __future__ import annotations

from math import inf

from clusterspec.cluster.model import Assumption, Cluster, Design, Workload
from clusterspec.cost import parameters
from clusterspec.cost.memory import instant, other, serve, states, stored, sums
from clusterspec.cost.memory.flight import flights
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.piece import Layers
from clusterspec.cost.memory.taken import taken
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.origin import Computed
from clusterspec.quantity import Figure

__all__ = ["use"]

Parts = dict[str, Term]
SHORTLIST = 4
"""Stages looked at for each reason that one may be the fullest."""


def use(design: Design) -> tuple[MemoryUse | None, tuple[Assumption, ...]]:
    """Bytes on the fullest accelerator, all its ranks together, and the assumptions made.

    The fullest rank is that of the pipeline stage whose sum is the largest; where an accelerator
    has several ranks, each part counts that many times. None where the design lacks a cluster,
    a workload or a layout.
    """
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None:
        return None, ()
    job = Job.of(design, workload, layout)
    held = parameters.stages(job.model, layout)
    if not held:
        return None, ()
    serving = workload.kind == "serve"
    capacity = _capacity(cluster, workload)
    limit = capacity.value / cluster.ranks_per_accelerator if capacity else inf
    candidates = [
        _serving(job, held[stage], limit) if serving else _training(job, stage, held[stage])
        for stage in _shortlist(job, held)
    ]
    fullest = max(candidates, key=lambda parts: sum(term.value for term in parts.values()))
    found = _on_accelerator(fullest, cluster, capacity)
    return found, taken(job, found.total)


def _shortlist(job: Job, held: tuple[tuple[Chunk, ...], ...]) -> list[int]:
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
        counts = flights(job.layout, stage, held[stage], job.micro_batches)
        return stored.passes(held[stage], counts)[Layers.ALL]

    most_layers = sorted(stages, key=layers, reverse=True)[:SHORTLIST]
    most_flying = sorted(stages, key=flying, reverse=True)[:SHORTLIST]
    return sorted({0, len(held) - 1, *most_layers, *most_flying})


def _training(job: Job, stage: int, chunks: tuple[Chunk, ...]) -> Parts:
    share = parameters.share(job.model, job.layout, chunks)
    counts = flights(job.layout, stage, chunks, job.micro_batches)
    activations = stored.stored(job, chunks, counts)
    beside = instant.fullest(job, share, _kinds(chunks), any(chunk.last for chunk in chunks))
    gradients = _replacing(job, states.gradients(job, share), activations)
    parts = {
        "weights": sums.total("weights", (*states.weights(job, share), *beside.weights)),
        "gradients": sums.total("gradients", (*gradients, *beside.gradients)),
        "optimizer": sums.total("optimizer", states.optimizer(job, share)),
        "activations": sums.total("activations", (*activations, *beside.activations)),
    }
    allocated = sum(term.value for term in parts.values())
    return {**parts, "other": other.other(job, share, allocated)}


def _kinds(chunks: tuple[Chunk, ...]) -> frozenset[Layers]:
    dense, moe = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
    return frozenset(kind for kind, there in ((Layers.DENSE, dense), (Layers.EXPERT, moe)) if there)


def _replacing(job: Job, gradients: list[Term], activations: list[Term]) -> list[Term]:
    """Gradients beyond the activations whose place they take, where the framework frees as it goes."""
    if not job.habits.late_gradients or job.micro_batches > 1:
        return gradients
    there, freed = sum(term.value for term in gradients), sum(term.value for term in activations)
    beyond = max(0.0, 1.0 - freed / there) if there else 0.0
    return [sums.scaled(term, beyond, "share not replacing activations") for term in gradients]


def _serving(job: Job, chunks: tuple[Chunk, ...], limit: float) -> Parts:
    """The parts of one rank; ``limit`` is the bytes that it may fill."""
    share = parameters.share(job.model, job.layout, chunks)
    held, beside = serve.weights(job, share), serve.beside(job, share)
    return {
        "weights": held,
        "gradients": sums.total("gradients", ()),
        "optimizer": sums.total("optimizer", ()),
        "activations": serve.cache(job, chunks, max(0.0, limit - held.value - beside.value)),
        "other": beside,
    }


def _capacity(cluster: Cluster, workload: Workload) -> Figure | None:
    """Memory of one accelerator in bytes; when serving, the share of it that weights and cache may fill."""
    memory = cluster.accelerator.memory
    if memory is None or workload.serving is None:
        return memory
    share = workload.serving.memory_fraction
    return Figure(memory.value * share, memory.unit, Computed(f"memory × memory_fraction {share:g}"))


def _on_accelerator(parts: Parts, cluster: Cluster, capacity: Figure | None) -> MemoryUse:
    ranks = cluster.ranks_per_accelerator
    said = {name: sums.scaled(term, ranks, f"{ranks} ranks an accelerator") for name, term in parts.items()}
    total = sums.total("memory", said.values())
    return MemoryUse(total=total, **said, capacity=capacity)
