"""The fastest layouts of a job on several numbers of nodes; a lower bound of the step time excludes most layouts
without an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import cast

import numpy

from clusterspec.analysis.searches.space.columns import (
    BatchRows,
    Column,
    ColumnEvaluation,
    Floats,
    SpacePart,
    batches,
    joined_space,
    parts_of,
)
from clusterspec.analysis.searches.space.run import Limits, SearchResult
from clusterspec.analysis.searches.studied import Space
from clusterspec.cost.plan import TIE
from clusterspec.records import replace

FIRST = 1.05
"""Layouts are first evaluated up to this multiple of the lowest bound of their space."""
LATER = 1.2
"""The factor by which this multiple grows while no evaluated layout fits."""
WIDEST = 2.0
"""The maximum ratio of a layout's lower bound to the lowest bound. If no layout up to it fits, another search has to
evaluate all layouts.
"""
BEYOND = (1 + TIE) ** 2
"""All layouts up to this multiple of the best time are found: those tied with the best, and the next ones."""
ROUNDING = 1e-9
"""The relative difference by which a lower bound may be above a step time."""


def fastest_of_spaces(
    evaluate: ColumnEvaluation, spaces: Sequence[Space], limits: Limits, *, top: int
) -> list[SearchResult | None]:
    """The fastest layouts of each space, complete up to a step time above the best one (`Found.complete_to`). None for
    a space in which no layout with a bound within `WIDEST` surely fits.
    """
    search = _Search(evaluate, spaces, limits, top)
    search.evaluate_all()
    return [search.result(at) for at in range(len(spaces))]


class _Search:
    """The search of several spaces: ``reach`` is the lower bound up to which the layouts of each are evaluated."""

    def __init__(self, evaluate: ColumnEvaluation, spaces: Sequence[Space], limits: Limits, top: int) -> None:
        self._evaluate = evaluate
        self.parts = parts_of(spaces, limits, top)
        self._ends = numpy.array([part.end for part in self.parts])
        self.least = numpy.full(len(spaces), inf)
        self._held = list(self._near_rows(joined_space(spaces)))
        self.reach = numpy.zeros(len(spaces))

    def result(self, at: int) -> SearchResult | None:
        """The result for a space; None if it is not complete up to its best layouts."""
        found = self.parts[at].run.result()
        if found.unsure or not found.best or self.reach[at] < found.best[0].key * BEYOND:
            return None
        return replace(found, near=(), complete_to=float(self.reach[at]))

    def evaluate_all(self) -> None:
        """Evaluates layouts, least bounds first, until the best ones of each space are known."""
        wanted = self.least * FIRST
        while (wanted > self.reach).any():
            for rows, bounds in self._held:
                self._evaluate_rows(rows, bounds, wanted)
            self.reach = wanted
            wanted = numpy.array(
                [self._required_bound(part, reach) for part, reach in zip(self.parts, wanted, strict=True)]
            )
            wanted = numpy.where(wanted > self.least * WIDEST, self.reach, wanted)

    def _required_bound(self, part: SpacePart, reach: float) -> float:
        """The lower bound up to which the layouts of a space have to be evaluated next; ``reach`` is the
        present one.
        """
        best = part.run.lowest_key
        return max(reach, best * BEYOND) if best < inf else reach * LATER

    def _near_rows(self, space: Space) -> Iterator[tuple[BatchRows, list[Floats]]]:
        """The rows of each batch whose bound is within `WIDEST` of the lowest bound so far, and their bounds."""
        for rows in batches(space):
            bounds = [*self._evaluate.time_lower_bounds(rows)]
            for table, least in zip(rows.tables, bounds, strict=True):
                numpy.minimum.at(self.least, self._space_numbers(table.number), least)
            near = [
                numpy.flatnonzero((least <= WIDEST * self.least[self._space_numbers(table.number)]) & (least < inf))
                for table, least in zip(rows.tables, bounds, strict=True)
            ]
            yield _chosen_rows(rows, near), [least[at] for least, at in zip(bounds, near, strict=True) if len(at)]

    def _space_numbers(self, number: Column) -> Column:
        """The number of the space of each layout."""
        return numpy.searchsorted(self._ends, number, "right")

    def _evaluate_rows(self, rows: BatchRows, bounds: Sequence[Floats], bounds_to: Floats) -> None:
        """Evaluates the rows of a batch whose bound is above the present reach and at most ``bounds_to``."""
        chosen = []
        for table, least in zip(rows.tables, bounds, strict=True):
            of = self._space_numbers(table.number)
            above, up_to = (each[of] * (1 + ROUNDING) for each in (self.reach, bounds_to))
            chosen.append(numpy.flatnonzero((least > above) & (least <= up_to)))
        some = _chosen_rows(rows, chosen)
        for block in self._evaluate.blocks(some) if some.tables else ():
            number = cast(Column, block.number)
            for at in numpy.unique(self._space_numbers(number)).tolist():
                self.parts[at].add(block)


def _chosen_rows(rows: BatchRows, indices: Sequence[Column]) -> BatchRows:
    """Some rows of each table of a batch, with the divisions that they refer to."""
    pairs = [(table, at) for table, at in zip(rows.tables, indices, strict=True) if len(at)]
    if not pairs:
        return rows._replace(tables=[])
    used = numpy.unique(numpy.concatenate([table.rows["division"][at] for table, at in pairs]))
    tables = []
    for table, at in pairs:
        taken = {name: column[at] for name, column in table.rows.items()}
        taken["division"] = numpy.searchsorted(used, taken["division"])
        tables.append(table._replace(rows=taken, number=table.number[at]))
    return rows._replace(divisions={name: column[used] for name, column in rows.divisions.items()}, tables=tables)
