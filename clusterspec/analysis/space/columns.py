"""Evaluates a space on NumPy columns; layouts with the same non-numeric settings are one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, product
from typing import TypeVar, cast

import numpy

from clusterspec.analysis.space.kept import Numbers
from clusterspec.analysis.space.run import Evaluate, EvaluatedBlock, Found, Limits, Run
from clusterspec.analysis.studied import Family, SearchJob, Sharding, Space
from clusterspec.cluster.model import Design, Layout
from clusterspec.cost.batch.batch import Batch
from clusterspec.cost.batch.columns import Array, ArrayLibrary
from clusterspec.cost.timing import design_tables
from clusterspec.records import NamedTuple, replace

ROWS = 1 << 20
"""Layouts of one batch, at most: the batch bounds the memory, and its new sub-results are computed together."""
Column = numpy.ndarray[tuple[int], numpy.dtype[numpy.int64]]
Floats = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]
Columns = dict[str, Column]
T = TypeVar("T")


class _Words(NamedTuple):
    """The settings that all layouts of a batch share."""

    sharding: str
    schedule: str
    recompute: tuple[str, ...]


class _Rows(NamedTuple):
    """Layouts of a batch with the same orders of axes: columns of their divisions, and columns of the rows that refer
    to them.
    """

    orders: tuple[tuple[str, ...], ...]
    divisions: Columns
    rows: Columns
    number: Column
    """The number of each layout in the space, with the first of the orders."""


def on_columns(design: Design, job: SearchJob) -> Evaluate:
    """An evaluation by batches, which share their tables."""
    tables = design_tables(design)
    batch = Batch(tables, cast(ArrayLibrary, numpy)) if tables else None

    def evaluate(space: Space) -> Iterator[EvaluatedBlock]:
        if batch is None:
            return
        for words, tables in _batches(space):
            names = tables[0].divisions
            divisions = {name: numpy.concatenate([table.divisions[name] for table in tables]) for name in names}
            some = [(table.orders, cast(dict[str, Array], table.rows)) for table in tables]
            results = batch(_variants(job, words), cast(dict[str, Array], divisions), some)
            for table, found in zip(tables, results, strict=True):
                memory = (_number_column(found.memory), _number_column(found.upper))
                for at, column in enumerate(found.step_times):
                    times = cast(Floats, column)
                    times[numpy.isnan(times)] = numpy.inf
                    yield EvaluatedBlock(_number_column(table.number + at), _number_column(times), *memory)

    return evaluate


def search_spaces(evaluate: Evaluate, spaces: Sequence[Space], limits: Limits, *, top: int) -> list[Found]:
    """The search of each space by step time; their layouts are evaluated in the same batches."""
    firsts = [0, *accumulate(space.size for space in spaces)]
    parts = [_Part(first, space, Run(space.first, limits, top)) for first, space in zip(firsts, spaces, strict=False)]
    for block in evaluate(Space([family for space in spaces for family in space.families])):
        for part in parts:
            part.add(block)
    return [part.run.found() for part in parts]


class _Part:
    """One of several spaces whose layouts are numbered one after another from ``first`` on."""

    def __init__(self, first: int, space: Space, run: Run) -> None:
        self.first, self.end, self.run = first, first + space.size, run
        self._of: Numbers = ()
        self._rows = numpy.zeros(0, "int64")
        self._memory: tuple[Numbers, Numbers] = ((), ())

    def add(self, block: EvaluatedBlock) -> None:
        """Adds those rows of a block that are of the space; blocks with one memory have the same."""
        number, times, *memory = (cast(Floats, column) for column in block)
        if block.memory is not self._of:
            self._of, self._rows = block.memory, numpy.flatnonzero((number >= self.first) & (number < self.end))
            self._memory = (_number_column(memory[0][self._rows]), _number_column(memory[1][self._rows]))
        if len(self._rows):
            own = number[self._rows] - self.first
            self.run.add(EvaluatedBlock(_number_column(own), _number_column(times[self._rows]), *self._memory))


def _number_column(column: object) -> Numbers:
    """An array, typed as a column of numbers."""
    return cast(Numbers, column)


def _variants(job: SearchJob, words: _Words) -> list[Layout]:
    layout = replace(job.layout, sharding=words.sharding, schedule=words.schedule)
    words_of = ((again, parallel) for again in words.recompute for parallel in (False, True))
    return [replace(layout, recompute=again, sequence_parallel=parallel) for again, parallel in words_of]


def _batches(space: Space) -> Iterator[tuple[_Words, list[_Rows]]]:
    """The columns of every batch; families with the same orders are together."""
    groups: dict[tuple[str, ...], list[tuple[int, Family]]] = {}
    for first, family in zip(space.first, space.families, strict=False):
        groups.setdefault(family.recompute, []).append((first, family))
    for recompute, members in groups.items():
        kinds = dict.fromkeys(each.kind for _, family in members for each in family.shardings)
        schedules = dict.fromkeys(each.schedule for _, family in members for each in family.pipelines)
        for kind, schedule, some in product(kinds, schedules, _family_batches(members)):
            found = _tables(some, kind, schedule)
            if found:
                yield _Words(kind, schedule, recompute), found


def _tables(members: list[tuple[int, Family]], kind: str, schedule: str) -> list[_Rows]:
    """The layouts of some families with one sharding and one schedule, by their orders; their divisions are numbered
    one after another.
    """
    by_orders: dict[tuple[tuple[str, ...], ...], list[tuple[int, Family]]] = {}
    for each in members:
        by_orders.setdefault(each[1].orders, []).append(each)
    found, count = list[_Rows](), 0
    for same in by_orders.values():
        table = _rows(same, kind, schedule)
        if len(table.number):
            found.append(table._replace(rows={**table.rows, "division": table.rows["division"] + count}))
            count += len(table.divisions["tp"])
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


def _rows(members: list[tuple[int, Family]], kind: str, schedule: str) -> _Rows:
    """The layouts of some families with one sharding, one schedule and their first order."""
    pipelines = [_choices_meeting(family.pipelines, lambda each: each.schedule == schedule) for _, family in members]
    shardings = [_choices_meeting(family.shardings, lambda each: each.kind == kind) for _, family in members]
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
    return _Rows(members[0][1].orders, _divisions(members, shards, shardings), rows, number)


def _divisions(
    members: list[tuple[int, Family]], counts: Column, shardings: list[list[tuple[int, Sharding]]]
) -> Columns:
    """The degrees of each family with each of its shard groups."""
    degrees = ("tp", "cp", "ep", "expert_tp", "pp", "dp")
    found = {
        name: numpy.repeat(_integer_column([getattr(family, name) for _, family in members]), counts)
        for name in degrees
    }
    return {**found, "shard_group": _integer_column([each.group for some in shardings for _, each in some])}


def _choices_meeting(choices: Sequence[T], condition: Callable[[T], bool]) -> list[tuple[int, T]]:
    """The choices that meet a condition, each with its position."""
    return [(at, each) for at, each in enumerate(choices) if condition(each)]


def _member_positions(counts: Column) -> tuple[Column, Column]:
    """For each row: the position of its member, and the position of the row among the rows of that member."""
    of = numpy.repeat(numpy.arange(len(counts)), counts)
    return of, numpy.arange(len(of)) - _start_offsets(counts)[of]


def _start_offsets(counts: Column) -> Column:
    return numpy.cumsum(counts) - counts


def _integer_column(values: Sequence[int]) -> Column:
    return numpy.array(values, "int64")
