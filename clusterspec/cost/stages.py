"""The pipeline stages of a layout, grouped by equal contents.

Groups are derived from runs of equal layer counts, so that ten thousand equal stages cost as much as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, pairwise

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.cost.layers import Chunk, Layer, layers
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class StageGroup:
    """``count`` consecutive stages from ``first`` on that hold the same ``chunks``."""

    first: int
    count: int
    chunks: tuple[Chunk, ...]


def stage_groups(model: Model, layout: Layout) -> tuple[StageGroup, ...]:
    """All stages in order; consecutive stages with equal contents form one group.

    A rank holds one chunk; ``virtual_stages`` chunks with an interleaved schedule; in DualPipe also the chunk of the
    mirrored stage. Empty where the layout has no `stage_layers`.
    """
    return _grouped(model, layout.stage_layers, layout.pp, layout.schedule == "dualpipe")


@lru_cache(maxsize=512)
def _grouped(model: Model, counts: tuple[int, ...], stages: int, mirrored: bool) -> tuple[StageGroup, ...]:
    """The groups by the values they depend on, cached: time and memory of a plan both request them."""
    if not counts:
        return ()
    runs = tuple(_runs(layers(model), counts))
    turns = [_window(runs, turn * stages, stages) for turn in range(len(counts) // stages)]
    if mirrored:
        turns += [_mirrored(spans, stages) for spans in turns]
    return tuple(_joined(stages, turns))


Span = tuple[int, int, Chunk]
"""Chunks from one index up to another with equal contents."""


def _runs(order: tuple[Layer, ...], counts: tuple[int, ...]) -> Iterator[Span]:
    """Spans of equal chunks of the whole pipeline."""
    start, index, final = 0, 0, len(counts) - 1
    for each, same in groupby(counts):
        number = len(list(same))
        uniform = len(set(order[start : start + each * number])) <= 1
        for first, last in _ends(index, index + number, final, uniform):
            at = start + each * (first - index)
            yield first, last, Chunk.of(order[at : at + each], first == 0, first == final)
        start, index = start + each * number, index + number


def _ends(first: int, last: int, final: int, uniform: bool) -> Iterator[tuple[int, int]]:
    """A run split where chunks differ: everywhere, or only at both ends of the pipeline."""
    if not uniform:
        yield from ((index, index + 1) for index in range(first, last))
        return
    cuts = sorted({first, last, *(cut for cut in (1, final) if first < cut < last)})
    yield from pairwise(cuts)


def _window(runs: tuple[Span, ...], start: int, length: int) -> list[Span]:
    """The spans of one round of virtual stages, counted from its first stage."""
    found = ((max(first, start) - start, min(last, start + length) - start, chunk) for first, last, chunk in runs)
    return [(first, last, chunk) for first, last, chunk in found if first < last]


def _mirrored(spans: list[Span], stages: int) -> list[Span]:
    """The contents of the opposite stages."""
    return [(stages - last, stages - first, chunk) for first, last, chunk in reversed(spans)]


def _joined(stages: int, turns: list[list[Span]]) -> Iterator[StageGroup]:
    """Stages split wherever one of their chunks changes."""
    cuts = sorted({0, stages, *(first for turn in turns for first, _, _ in turn)})
    places = [0] * len(turns)
    for first, last in pairwise(cuts):
        for index, turn in enumerate(turns):
            while turn[places[index]][1] <= first:
                places[index] += 1
        yield StageGroup(first, last - first, tuple(turn[places[i]][2] for i, turn in enumerate(turns)))
