"""Evaluates a space on NumPy columns; layouts with the same non-numeric settings are one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from typing import cast

import numpy

from clusterspec.analysis.searches.space.kept import Numbers
from clusterspec.analysis.searches.space.run import Evaluate, EvaluatedBlock, Limits, Run, SearchResult
from clusterspec.analysis.searches.studied import Family, SearchJob, Sharding, Space
from clusterspec.cluster.model import Design, Layout
from clusterspec.cost.batch.batch import Batch, RowsOfOrders
from clusterspec.cost.batch.columns import Array, ArrayLibrary, variant_of
from clusterspec.cost.timing import design_tables
from clusterspec.records import NamedTuple, replace

ROWS = 1 << 20
"""Layouts of one batch, at most: the batch bounds the memory, and its new sub-results are computed together."""
Column = numpy.ndarray[tuple[int], numpy.dtype[numpy.int64]]
Floats = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]
Columns = dict[str, Column]


class Words(NamedTuple):
    """The settings that all layouts of a batch share."""

    sharding: str
    schedule: str
    recompute: tuple[str, ...]


class RowTable(NamedTuple):
    """Layouts of a batch with the same orders of axes: columns of the rows, which refer to divisions of the ranks."""

    orders: tuple[tuple[str, ...], ...]
    rows: Columns
    number: Column
    """The number of each layout in the space, with the first of the orders."""


class BatchRows(NamedTuple):
    """The layouts of a batch: columns of all divisions, and tables of the rows that refer to them."""

    words: Words
    divisions: Columns
    tables: list[RowTable]


class ColumnEvaluation:
    """An evaluation of the layouts of a job by batches, which share their results."""

    def __init__(self, job: SearchJob, batch: Batch) -> None:
        self.job, self._batch = job, batch

    def __call__(self, space: Space) -> Iterator[EvaluatedBlock]:
        return (block for rows in batches(space) for block in self.blocks(rows))

    def blocks(self, rows: BatchRows) -> Iterator[EvaluatedBlock]:
        """The layouts of a batch, evaluated."""
        for table, found in zip(rows.tables, self._batch(*self._batch_inputs(rows)), strict=True):
            memory = (number_column(found.memory), number_column(found.upper))
            for at, column in enumerate(found.step_times):
                times = cast(Floats, column)
                times[numpy.isnan(times)] = numpy.inf
                yield EvaluatedBlock(number_column(table.number + at), number_column(times), *memory)

    def time_lower_bounds(self, rows: BatchRows) -> Iterator[Floats]:
        """A lower bound of the step times of each row of every table; infinite if it has none."""
        for column in self._batch.time_lower_bounds(*self._batch_inputs(rows)):
            times = cast(Floats, column)
            times[numpy.isnan(times)] = numpy.inf
            yield times

    def _batch_inputs(self, rows: BatchRows) -> tuple[list[Layout], dict[str, Array], list[RowsOfOrders]]:
        some: list[RowsOfOrders] = [(table.orders, cast(dict[str, Array], table.rows)) for table in rows.tables]
        return _layout_variants(self.job, rows.words), cast(dict[str, Array], rows.divisions), some


def batched_evaluation(design: Design, job: SearchJob) -> Evaluate:
    """An evaluation by batches, which share their tables."""
    tables = design_tables(design)
    return ColumnEvaluation(job, Batch(tables, cast(ArrayLibrary, numpy))) if tables else lambda space: iter(())


def search_spaces(evaluate: Evaluate, spaces: Sequence[Space], limits: Limits, *, top: int) -> list[SearchResult]:
    """The search of each space by step time; their layouts are evaluated in the same batches."""
    parts = parts_of(spaces, limits, top)
    for block in evaluate(joined_space(spaces)):
        for part in parts:
            part.add(block)
    return [part.run.result() for part in parts]


def joined_space(spaces: Sequence[Space]) -> Space:
    """The layouts of several spaces as one space, numbered consecutively."""
    return Space([family for space in spaces for family in space.families])


def parts_of(spaces: Sequence[Space], limits: Limits, top: int) -> list[SpacePart]:
    """The parts of the `joined_space` of some spaces, each with a search by step time."""
    firsts = [0, *accumulate(space.size for space in spaces)]
    return [
        SpacePart(first, space, Run(space.first, limits, top)) for first, space in zip(firsts, spaces, strict=False)
    ]


class SpacePart:
    """One of several spaces with consecutively numbered layouts; this one starts at ``first``."""

    def __init__(self, first: int, space: Space, run: Run) -> None:
        self.first, self.end, self.run = first, first + space.size, run
        self._of: Numbers = ()
        self._rows = numpy.zeros(0, "int64")
        self._memory: tuple[Numbers, Numbers] = ((), ())

    def add(self, block: EvaluatedBlock) -> None:
        """Add the rows of a block that belong to the space; blocks of one memory have the same rows."""
        number, times, *memory = (cast(Floats, column) for column in block)
        if block.memory is not self._of:
            self._of, self._rows = block.memory, numpy.flatnonzero((number >= self.first) & (number < self.end))
            self._memory = (number_column(memory[0][self._rows]), number_column(memory[1][self._rows]))
        if len(self._rows):
            own = number[self._rows] - self.first
            self.run.add(EvaluatedBlock(number_column(own), number_column(times[self._rows]), *self._memory))


def number_column(column: object) -> Numbers:
    """An array, typed as a column of numbers."""
    return cast(Numbers, column)


def _layout_variants(job: SearchJob, words: Words) -> list[Layout]:
    layout = variant_of(job.layout, sharding=words.sharding, schedule=words.schedule, recompute_layers=None)
    words_of = ((again, parallel) for again in words.recompute for parallel in (False, True))
    return [replace(layout, recompute=again, sequence_parallel=parallel) for again, parallel in words_of]


def batches(space: Space) -> Iterator[BatchRows]:
    """The layouts of a space in batches; families with the same orders are together."""
    groups: dict[tuple[str, ...], list[tuple[int, Family]]] = {}
    for first, family in zip(space.first, space.families, strict=False):
        groups.setdefault(family.recompute, []).append((first, family))
    for recompute, members in groups.items():
        kinds = dict.fromkeys(each.kind for _, family in members for each in family.shardings)
        schedules = dict.fromkeys(each.schedule for _, family in members for each in family.pipelines)
        for kind, schedule, some in product(kinds, schedules, _family_batches(members)):
            found = _row_tables(some, kind, schedule)
            if found:
                divisions = {name: numpy.concatenate([each[name] for _, each in found]) for name in found[0][1]}
                yield BatchRows(Words(kind, schedule, recompute), divisions, [table for table, _ in found])


def _row_tables(members: list[tuple[int, Family]], kind: str, schedule: str) -> list[tuple[RowTable, Columns]]:
    """The layouts of the given families that have the given sharding and schedule, by axis orders, and their divisions,
    numbered consecutively.
    """
    by_orders: dict[tuple[tuple[str, ...], ...], list[tuple[int, Family]]] = {}
    for each in members:
        by_orders.setdefault(each[1].orders, []).append(each)
    found, count = list[tuple[RowTable, Columns]](), 0
    for same in by_orders.values():
        table, divisions = _rows(same, kind, schedule)
        if len(table.number):
            numbered = {**table.rows, "division": table.rows["division"] + count}
            found.append((table._replace(rows=numbered), divisions))
            count += len(divisions["tp"])
    return found


def _family_batches(members: list[tuple[int, Family]]) -> Iterator[list[tuple[int, Family]]]:
    """Families one after another, with about `ROWS` layouts in each part."""
    part: list[tuple[int, Family]] = []
    size = 0
    for first, family in members:
        part.append((first, family))
        size += family.size
        if size >= ROWS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _rows(members: list[tuple[int, Family]], kind: str, schedule: str) -> tuple[RowTable, Columns]:
    """The layouts of the given families with equal sharding and schedule, in the first axis order, and their
    divisions.
    """
    pipelines = [family.pipelines_by_schedule.get(schedule, ()) for _, family in members]
    shardings = [family.shardings_by_kind.get(kind, ()) for _, family in members]
    again = len(members[0][1].recompute)
    pipes, shards = (_integer_column([len(each) for each in found]) for found in (pipelines, shardings))
    of, offset = _member_positions(pipes * shards)
    pipe, shard = numpy.divmod(offset, shards[of])
    pipe, shard = pipe + _start_offsets(pipes)[of], shard + _start_offsets(shards)[of]
    every = [each for found in pipelines for _, each in found]
    index = _integer_column([at for found in pipelines for at, _ in found])[pipe] if len(of) else of
    index = index * _integer_column([len(family.shardings) for _, family in members])[of]
    index = index + (_integer_column([at for found in shardings for at, _ in found])[shard] if len(of) else of)
    first = _integer_column([first for first, _ in members])[of]
    parallel = _integer_column([int(family.sequence_parallel) for _, family in members])[of]
    recompute = numpy.repeat(numpy.arange(again), len(of))
    rows = {
        "division": numpy.tile(shard, again),
        "micro_batch": numpy.tile(_integer_column([each.micro_batch for each in every])[pipe], again),
        "virtual_stages": numpy.tile(_integer_column([each.virtual_stages for each in every])[pipe], again),
        "variant": 2 * recompute + numpy.tile(parallel, again),
    }
    number = numpy.tile(first, again) + (numpy.tile(index * again, again) + recompute) * len(members[0][1].orders)
    return RowTable(members[0][1].orders, rows, number), _degree_columns(members, shards, shardings)


def _degree_columns(
    members: list[tuple[int, Family]], counts: Column, shardings: list[Sequence[tuple[int, Sharding]]]
) -> Columns:
    """The degrees of each family with each of its shard groups."""
    degrees = ("tp", "cp", "ep", "expert_tp", "pp", "dp")
    found = {
        name: numpy.repeat(_integer_column([getattr(family, name) for _, family in members]), counts)
        for name in degrees
    }
    return {**found, "shard_group": _integer_column([each.group for some in shardings for _, each in some])}


def _member_positions(counts: Column) -> tuple[Column, Column]:
    """For each row: the position of its member, and the position of the row among the rows of that member."""
    of = numpy.repeat(numpy.arange(len(counts)), counts)
    return of, numpy.arange(len(of)) - _start_offsets(counts)[of]


def _start_offsets(counts: Column) -> Column:
    return numpy.cumsum(counts) - counts


def _integer_column(values: Sequence[int]) -> Column:
    return numpy.array(values, "int64")
