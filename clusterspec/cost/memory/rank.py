"""One rank of a pipeline: its weights, its micro-batches in flight, and the stages that may use the most memory."""

from __future__ import annotations

from enum import StrEnum

from clusterspec.cluster.model import Layout
from clusterspec.cost.formulas import memory
from clusterspec.cost.layers import Chunk, StageGroup
from clusterspec.cost.memory import Job
from clusterspec.cost.parameters import Share
from clusterspec.cost.tables import held_share
from clusterspec.recent import Recent
from clusterspec.records import dataclass
from clusterspec.summation import sum_of


def micro_batches_in_flight(
    layout: Layout, stage: int, chunks: tuple[Chunk, ...], micro_batches: float
) -> tuple[float, ...]:
    """The highest number of micro-batches whose activations pipeline stage ``stage`` holds, for each chunk.

    1F1B holds as many as there are stages from this one on; GPipe holds all; zero-bubble as many as the first stage of
    1F1B (ZB-H1, arXiv 2401.10241); DualPipe those of both directions (arXiv 2412.19437, table 2).
    """
    if layout.pp == 1:
        return (1.0,) * len(chunks)
    if layout.schedule == "gpipe":
        return (float(micro_batches),) * len(chunks)
    if layout.schedule == "zero-bubble":
        return (float(min(layout.pp, micro_batches)),) * len(chunks)
    if layout.schedule == "dualpipe":
        own, mirrored = (
            memory.stored_micro_batches(layout.pp, side, micro_batches) for side in (stage, layout.pp - 1 - stage)
        )
        half = len(chunks) // 2
        return (float(own),) * half + (float(mirrored),) * half
    if len(chunks) > 1:
        passes = memory.stored_interleaved_passes(layout.pp, stage, len(chunks), micro_batches)
        return _passes_by_chunk(passes, layout.pp, len(chunks))
    return (float(memory.stored_micro_batches(layout.pp, stage, micro_batches)),) * len(chunks)


def _passes_by_chunk(passes: float, stages: int, chunks: int) -> tuple[float, ...]:
    """Passes by chunk: the chunks process p micro-batches each in a round, starting with the first chunk.

    >>> _passes_by_chunk(23.0, 4, 5)
    (7.0, 4.0, 4.0, 4.0, 4.0)
    """
    rounds, rest = divmod(passes, stages * chunks)
    return tuple(rounds * stages + min(float(stages), max(0.0, rest - chunk * stages)) for chunk in range(chunks))


# The model on one rank: its weights, and the number of stored activations of its layers


class Layers(StrEnum):
    """The layers that have a tensor."""

    ALL = "layers"
    FULL = "layers with full attention"
    WINDOW = "layers with a window"
    LINEAR = "layers with linear attention"
    DENSE = "dense layers"
    EXPERT = "expert layers"


MIXING = (Layers.FULL, Layers.WINDOW, Layers.LINEAR)
"""Kinds of layers by token mixing; a layer has at most one of them."""
COUNTS = {
    Layers.ALL: "layers",
    Layers.FULL: "full_layers",
    Layers.WINDOW: "window_layers",
    Layers.LINEAR: "linear_layers",
    Layers.DENSE: "dense_layers",
    Layers.EXPERT: "moe_layers",
}
"""The count of a chunk for each kind of layer."""


@dataclass(frozen=True)
class Rank:
    """One rank of a pipeline stage; numbers may be columns.

    ``passes`` count layers times micro-batches in flight, ``in_flight`` the most micro-batches of one chunk; ``inputs``
    and ``outputs`` are 1 if the stage receives or sends hidden states, else 0; ``head`` is the number of times that
    it computes logits: 1 if it holds the output head, and 1 for each layer of multi-token prediction. ``kinds`` are
    the kinds of feed-forward network on the rank.
    """

    share: Share
    passes: dict[Layers, float]
    in_flight: float
    inputs: float
    outputs: float
    head: float
    kinds: frozenset[Layers]

    @classmethod
    def of(cls, job: Job, stage: int, chunks: tuple[Chunk, ...]) -> Rank:
        """The rank of a pipeline stage (from 0) that holds some chunks."""
        if job.workload.trainable is not None:  # the weights of adapters depend on more
            return cls.computed(job, stage, chunks)
        layout = job.layout
        degrees = (layout.pp, layout.tp, layout.ep, layout.expert_tp, layout.redundant_experts)
        given = (chunks, stage, job.micro_batches, layout.schedule, degrees, job.model)
        known = next((rank for inputs, rank in _RECENT if inputs == given), None)
        return known or _RECENT.keep((given, cls.computed(job, stage, chunks)))[1]

    @classmethod
    def computed(cls, job: Job, stage: int, chunks: tuple[Chunk, ...]) -> Rank:
        """A rank computed anew, without the cache of recent jobs."""
        counts = micro_batches_in_flight(job.layout, stage, chunks, job.micro_batches)
        first, last = any(chunk.first for chunk in chunks), any(chunk.last for chunk in chunks)
        dense, expert = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
        kinds = frozenset(kind for kind, there in ((Layers.DENSE, dense), (Layers.EXPERT, expert)) if there)
        return cls(
            share=held_share(job.workload, job.layout, chunks),
            passes=stored_passes(chunks, counts),
            in_flight=max(counts, default=0.0),
            inputs=float(not first),
            outputs=float(not last),
            head=logits_count(chunks),
            kinds=kinds,
        )


_RECENT: Recent[tuple[tuple[object, ...], Rank]] = Recent(8)
"""The ranks of recent jobs without adapters, by their inputs."""


def logits_count(chunks: tuple[Chunk, ...]) -> float:
    """How often a stage of these chunks computes logits: for its head, and for each layer of multi-token prediction."""
    return float(any(chunk.last for chunk in chunks) + sum(chunk.predicted for chunk in chunks))


def stored_passes(chunks: tuple[Chunk, ...], counts: tuple[float, ...]) -> dict[Layers, float]:
    """The stored activations of each kind of layer: layers times micro-batches in flight."""
    pairs = list(zip(chunks, counts, strict=True))
    return {kind: sum_of(getattr(chunk, name) * count for chunk, count in pairs) for kind, name in COUNTS.items()}


# The pipeline stages that may hold the most memory

MOST = 64
"""Up to this many groups are all evaluated; no published pipeline has more."""
SHORTLIST = 16
"""Groups of a longer pipeline that are evaluated for each criterion."""


def distinct_groups(layout: Layout, groups: tuple[StageGroup, ...]) -> tuple[StageGroup, ...]:
    """The groups without repetitions: a group with the same chunks as an earlier group is left out, as the earlier one
    has at least as many micro-batches in flight. In DualPipe all groups are kept.
    """
    if layout.schedule == "dualpipe":
        return groups
    found: dict[tuple[Chunk, ...], StageGroup] = {}
    for group in groups:
        found.setdefault(group.chunks, group)
    return tuple(found.values())


def candidates_for_fullest(job: Job, groups: tuple[StageGroup, ...]) -> list[StageGroup]:
    """Groups of equal stages among which the fullest is.

    All distinct groups. In very long pipelines only both ends, the groups with the most layers, and the groups with the
    most micro-batches in flight. The first stage of a group has the most in flight.
    """
    groups = distinct_groups(job.layout, groups)
    if len(groups) <= MOST:
        return list(groups)

    def layers(group: StageGroup) -> float:
        return sum(chunk.layers for chunk in group.chunks)

    def stored_micro_batches(group: StageGroup) -> float:
        counts = micro_batches_in_flight(job.layout, group.first, group.chunks, job.micro_batches)
        return stored_passes(group.chunks, counts)[Layers.ALL]

    most_layers = sorted(groups, key=layers, reverse=True)[:SHORTLIST]
    most_held = sorted(groups, key=stored_micro_batches, reverse=True)[:SHORTLIST]
    chosen = {group.first: group for group in (groups[0], groups[-1], *most_layers, *most_held)}
    return [chosen[first] for first in sorted(chosen)]
