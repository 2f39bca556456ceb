"""Step time and memory of many layouts: sub-results from tables, composed on columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import NamedTuple

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.call import Call
from clusterspec.cost.batch.index import PairIndex, RowIndex, RowTable, ValueIndex
from clusterspec.cost.batch.layouts import DEGREES
from clusterspec.cost.batch.memory import MemoryTables, memory_of
from clusterspec.cost.batch.placement import PlacementIndex
from clusterspec.cost.batch.stages import StageTable
from clusterspec.cost.step.replicas import LAYER_BY_LAYER
from clusterspec.cost.tables import Tables
from clusterspec.cost.tables.hiding import Hiding

ROWS = 1 << 13
"""Rows evaluated together; their columns fit in the L2 cache of one core."""


class BatchResult(NamedTuple):
    """One column per result: seconds of a step (NaN where no fabric connects the ranks of a group), and bytes on the
    fullest accelerator.
    """

    step_time: Array
    memory: Array


class BatchTables:
    """The tables of one job. The rows of a call look up their entries by number."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.placements = PlacementIndex(library)
        self.values = {name: ValueIndex(library) for name in DEGREES}
        self.tokens = RowIndex(library, 4)
        self.shapes = PairIndex(library)
        self.cuts = RowIndex(library, 3)
        self.layers: dict[Hiding, RowTable] = {}
        self.stages: dict[bool, StageTable] = {}
        self.weights: dict[bool, RowTable] = {}
        self.sends: dict[bool, RowTable] = {}
        self.replicas: dict[tuple[object, ...], RowTable] = {}
        self.variants: dict[tuple[object, ...], int] = {}
        self.memory = MemoryTables(library)


class Batch:
    """Estimates columns of layouts of one job. Each call reuses the sub-results of earlier calls."""

    def __init__(self, tables: Tables, library: ArrayLibrary) -> None:
        self.tables, self.library = tables, library
        self._known = BatchTables(library)

    def __call__(self, variants: Sequence[Layout], columns: Mapping[str, Array]) -> BatchResult:
        """Layouts with the `DEGREES` in ``columns``, one in each row.

        ``variants`` are layouts that differ in recomputation, sequence parallelism and the method of context
        parallelism alone; the column ``variant`` has the index of the one that a row varies (the first for all
        rows where it is absent). The degrees of a row make up all the ranks of its variant.
        """
        count = len(columns["tp"])
        found = BatchResult(self.library.full(count, nan), self.library.full(count, nan))
        for first in range(0, count, ROWS):
            rows = slice(first, first + ROWS)
            part = {name: column[rows] for name, column in columns.items()}
            for whole, some in zip(found, self._block(variants, part), strict=True):
                whole[rows] = some
        return found

    def _block(self, variants: Sequence[Layout], columns: Mapping[str, Array]) -> BatchResult:
        """Estimates rows with one stage and rows with several separately, since their data parallelism differs."""
        if variants[0].sharding not in LAYER_BY_LAYER:
            return self._computed(variants, columns)
        count = len(columns["tp"])
        found = BatchResult(self.library.full(count, nan), self.library.full(count, nan))
        for rows in (columns["pp"] < 2, columns["pp"] > 1):
            chosen = self.library.flatnonzero(rows)
            if len(chosen):
                part = {name: column[chosen] for name, column in columns.items()}
                for whole, some in zip(found, self._computed(variants, part), strict=True):
                    whole[chosen] = some
        return found

    def _computed(self, variants: Sequence[Layout], columns: Mapping[str, Array]) -> BatchResult:
        call = Call(self.tables, self._known, self.library, variants, columns)
        return BatchResult(call.step_time(), memory_of(call))
