"""Step time and memory of every layout of a space: on columns where NumPy is installed, one by one elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import revalued
from clusterspec.cost.memory import memory
from clusterspec.cost.timing import tables_of, timed
from clusterspec.records import NamedTuple
from clusterspec.search.front import Numbers
from clusterspec.search.layouts import layout_of
from clusterspec.search.space import SearchJob, Space, choices


class EvaluatedBlock(NamedTuple):
    """Some layouts of a space: their numbers, seconds of a step, bytes on the fullest accelerator, and the high end of
    the range of these bytes. Rows with the same recomputation are together, with ascending numbers.

    The time of a layout is infinite where no fabric connects the ranks of one of its groups.
    """

    number: Numbers
    step_time: Numbers
    memory: Numbers
    upper: Numbers


Evaluate = Callable[[Space], Iterator[EvaluatedBlock]]
"""Evaluates a space block by block; every layout is in one block."""


def evaluation(design: Design, job: SearchJob) -> Evaluate:
    """The fastest available evaluation of the layouts of a design; all evaluations give the same numbers."""
    try:
        from clusterspec.search.columns import on_columns
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        return one_by_one(design, job)
    return on_columns(design, job)


def one_by_one(design: Design, job: SearchJob) -> Evaluate:
    """Each layout estimated by itself, with the tables of one design; one block a family."""
    tables = tables_of(design)

    def seconds_and_bytes(layout: Design) -> tuple[float, float, float]:
        found = timed(layout, tables) if tables else None
        held = memory(layout)
        return (found.seconds if found else inf, *((held.total, held.upper) if held else (inf, inf)))

    def evaluate(space: Space) -> Iterator[EvaluatedBlock]:
        for first, family in zip(space.first, space.families, strict=False):
            listed = sorted(enumerate(choices(family), first), key=lambda one: family.recompute.index(one[1].recompute))
            layouts = (layout_of(job, choice) for _, choice in listed)
            rows = [seconds_and_bytes(revalued(design, {("layout",): layout})) for layout in layouts]
            columns = map(list, zip(*rows, strict=True))
            yield EvaluatedBlock([number for number, _ in listed], *columns)

    return evaluate
