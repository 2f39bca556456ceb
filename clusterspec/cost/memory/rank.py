"""The model on one rank: its weights, and the number of stored activations of its layers."""

from __future__ import annotations

from enum import Enum

from clusterspec.cost import parameters
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory.in_flight import in_flight
from clusterspec.cost.memory.job import Job
from clusterspec.cost.parameters import Share
from clusterspec.records import dataclass
from clusterspec.summation import sum_of


class Layers(Enum):
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


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank of a pipeline stage; numbers may be columns.

    ``passes`` count layers times micro-batches in flight, ``in_flight`` the most micro-batches of one chunk; ``inputs``
    and ``outputs`` are 1 where the stage receives or sends hidden states, else 0; ``head`` is 1 where it holds the
    output head. ``kinds`` are the kinds of feed-forward network on the rank.
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
        counts = in_flight(job.layout, stage, chunks, job.micro_batches)
        first, last = any(chunk.first for chunk in chunks), any(chunk.last for chunk in chunks)
        dense, expert = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
        kinds = frozenset(kind for kind, there in ((Layers.DENSE, dense), (Layers.EXPERT, expert)) if there)
        return cls(
            share=parameters.share(job.model, job.layout, chunks),
            passes=passes(chunks, counts),
            in_flight=max(counts, default=0.0),
            inputs=float(not first),
            outputs=float(not last),
            head=float(last),
            kinds=kinds,
        )


def passes(chunks: tuple[Chunk, ...], counts: tuple[float, ...]) -> dict[Layers, float]:
    """The stored activations of each kind of layer: layers times micro-batches in flight."""
    pairs = list(zip(chunks, counts, strict=True))
    return {kind: sum_of(getattr(chunk, name) * count for chunk, count in pairs) for kind, name in COUNTS.items()}
