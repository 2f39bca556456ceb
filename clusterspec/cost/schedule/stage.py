"""One micro-batch on every pipeline stage, and which stage the others wait for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.cost import parameters
from clusterspec.cost.compute import ends
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.schedule.layer import Layers
from clusterspec.cost.schedule.passes import Passes


class Content(NamedTuple):
    """How much of the model one rank holds, all its chunks together."""

    dense_layers: int
    expert_layers: int
    embeddings: int
    heads: int

    @classmethod
    def of(cls, chunks: tuple[Chunk, ...]) -> Content:
        return cls(
            sum(chunk.dense_layers for chunk in chunks),
            sum(chunk.moe_layers for chunk in chunks),
            sum(chunk.first for chunk in chunks),
            sum(chunk.last for chunk in chunks),
        )


@dataclass(frozen=True, slots=True)
class Stages:
    """Work of one micro-batch: of the slowest stage, the chunks it holds, and the seconds of all stages summed."""

    slowest: Passes
    chunks: tuple[Chunk, ...]
    total: float


class Timing:
    """Times stages by what they hold, each kind once."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self._known: dict[Content, Passes] = {}

    def stages(self, model: Model, layout: Layout) -> Stages:
        """All stages of the pipeline.

        In DualPipe a rank holds two chunks and runs each for half of the micro-batches.
        """
        held = parameters.stages(model, layout)
        share = 0.5 if layout.schedule == "dualpipe" else 1.0
        work = [self.of(Content.of(chunks)) * share for chunks in held]
        index = max(range(len(work)), key=lambda stage: work[stage].total)
        return Stages(work[index], held[index], sum(each.total for each in work))

    def of(self, content: Content) -> Passes:
        """One micro-batch through everything that a rank holds."""
        if content not in self._known:
            self._known[content] = self._timed(content)
        return self._known[content]

    def _timed(self, content: Content) -> Passes:
        portion, software = self.layers.portion, self.layers.clock.software
        routed = content.expert_layers if portion.model.experts else 0
        dense = content.dense_layers + content.expert_layers - routed
        total = Passes()
        if dense:
            total += self.layers.dense * dense
        if routed:
            total += self.layers.experts * routed
        if content.embeddings:
            total += self.layers.clock.passes(ends.embedding(portion))
        if content.heads:
            total += self.layers.clock.passes(ends.head(portion, software.loss, software.accumulation))
        return total
