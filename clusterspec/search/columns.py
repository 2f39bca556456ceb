"""Evaluates a space on columns of NumPy: layouts that share their words are one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy

from clusterspec.cluster.model import Design, Layout
from clusterspec.cost.batch import Batch
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.timing import tables_of
from clusterspec.records import replace
from clusterspec.search.evaluate import Block, Evaluate
from clusterspec.search.front import Numbers
from clusterspec.search.space import Family, SearchJob, Space

ROWS = 1 << 18
"""Layouts of one batch, at most: a few columns of so many numbers fit the caches and bound the memory."""
Column = numpy.ndarray[tuple[int], numpy.dtype[numpy.int64]]
Floats = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]
Columns = dict[str, Column]
NUMBER = "number"


class _Words(NamedTuple):
    """What all layouts of a batch have in common, but for the order of their axes."""

    sharding: str
    schedule: str
    recompute: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]


def on_columns(design: Design, job: SearchJob) -> Evaluate:
    """An evaluation by batches; the tables that one batch fills serve all others."""
    tables = tables_of(design)
    batch = Batch(tables, cast(ArrayLibrary, numpy)) if tables else None

    def evaluate(space: Space) -> Iterator[Block]:
        if batch is None:
            return
        for words, columns in _batches(space):
            for start in range(0, len(columns[NUMBER]), ROWS):
                part = {name: column[start : start + ROWS] for name, column in columns.items()}
                number = part.pop(NUMBER)
                for at, order in enumerate(words.orders):
                    found = batch(_variants(job, words, order), cast(dict[str, Array], part))
                    times = cast(Floats, found.step_time)
                    times = cast(Floats, numpy.where(numpy.isnan(times), numpy.inf, times))
                    yield Block(_numbers(number + at), _numbers(times), _numbers(found.memory))

    return evaluate


def _numbers(column: object) -> Numbers:
    """An array where a column of numbers is read."""
    return cast(Numbers, column)


def _variants(job: SearchJob, words: _Words, order: tuple[str, ...]) -> list[Layout]:
    layout = replace(job.layout, sharding=words.sharding, schedule=words.schedule, order=order)
    words_of = ((again, parallel) for again in words.recompute for parallel in (False, True))
    return [replace(layout, recompute=again, sequence_parallel=parallel) for again, parallel in words_of]


def _batches(space: Space) -> Iterator[tuple[_Words, Columns]]:
    """The columns of every batch; families with the same orders share them. Numbers are those of the first order."""
    groups: dict[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]], list[tuple[int, Family]]] = {}
    for first, family in zip(space.first, space.families, strict=False):
        groups.setdefault((family.orders, family.recompute), []).append((first, family))
    for (orders, recompute), members in groups.items():
        kinds = dict.fromkeys(each.kind for _, family in members for each in family.shardings)
        schedules = dict.fromkeys(each.schedule for _, family in members for each in family.pipelines)
        for kind in kinds:
            for schedule in schedules:
                parts = [_rows(first, family, kind, schedule) for first, family in members]
                parts = [part for part in parts if len(part[NUMBER])]
                if parts:
                    whole = {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}
                    yield _Words(kind, schedule, recompute, orders), whole


def _rows(first: int, family: Family, kind: str, schedule: str) -> Columns:
    """The layouts of a family with one sharding, one schedule and its first order."""
    pipelines = [at for at, each in enumerate(family.pipelines) if each.schedule == schedule]
    shardings = [at for at, each in enumerate(family.shardings) if each.kind == kind]
    again = len(family.recompute)
    inner = len(shardings) * again
    size = len(pipelines) * inner
    pipe = numpy.repeat(numpy.array(pipelines, "int64"), inner)
    shard = numpy.tile(numpy.repeat(numpy.array(shardings, "int64"), again), len(pipelines))
    recompute = numpy.tile(numpy.arange(again, dtype="int64"), len(pipelines) * len(shardings))
    degrees = ("tp", "cp", "ep", "expert_tp", "pp", "dp")
    columns = {name: numpy.full(size, getattr(family, name), "int64") for name in degrees}
    columns["virtual_stages"] = numpy.array([each.virtual_stages for each in family.pipelines], "int64")[pipe]
    columns["micro_batch"] = numpy.array([each.micro_batch for each in family.pipelines], "int64")[pipe]
    columns["shard_group"] = numpy.array([each.group for each in family.shardings], "int64")[shard]
    columns["variant"] = 2 * recompute + int(family.sequence_parallel)
    index = ((pipe * len(family.shardings) + shard) * again + recompute) * len(family.orders)
    return {**columns, NUMBER: first + index}
