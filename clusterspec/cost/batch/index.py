"""Numbers distinct rows of integers; the same row has the same number in every call.

Rows are numbered pair by pair through dense tables, so that a call takes a few passes over its columns and no sorting.
Tables grow with the number of distinct values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clusterspec.cost.batch.arrays import Array, ArrayLibrary


class Numbers(NamedTuple):
    """A number for each row, all of them below ``end``."""

    values: Array
    end: int


class ValueIndex:
    """Numbers the values of one column: 0, 1, 2 … in the order in which they are first seen."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._table = library.full(64, -1, "int64")

    def __call__(self, values: Array) -> Numbers:
        """For each value its number. Values are whole and not negative."""
        most = int(values.max())
        if most >= len(self._table):
            grown = self.library.full(2 * most + 2, -1, "int64")
            grown[: len(self._table)] = self._table
            self._table = grown
        found = self._table.take(values)
        if found.min() < 0:
            fresh, _ = self.library.unique(values[found < 0], return_index=True)
            self._table[fresh] = self.library.asarray(range(self.size, self.size + len(fresh)))
            self.size += len(fresh)
            found = self._table.take(values)
        return Numbers(found, self.size)


class PairIndex:
    """Numbers the pairs of two columns of numbers, and reports one row of each new pair."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._shape = (8, 8)
        self._table = library.full(64, -1, "int64")

    def __call__(self, first: Numbers, second: Numbers, added: Callable[[int], None] | None = None) -> Numbers:
        """The number of each pair; ``added`` is called with one row of each new pair, in ascending number."""
        self._grow(first.end, second.end)
        code = first.values * self._shape[1] + second.values
        found = self._table.take(code)
        if found.min() < 0:
            rows = self.library.flatnonzero(found < 0)
            fresh, where = self.library.unique(code[rows], return_index=True)
            self._table[fresh] = self.library.asarray(range(self.size, self.size + len(fresh)))
            self.size += len(fresh)
            if added is not None:
                for row in rows[where].tolist():
                    added(row)
            found = self._table.take(code)
        return Numbers(found, self.size)

    def _grow(self, first: int, second: int) -> None:
        rows, columns = self._shape
        if first <= rows and second <= columns:
            return
        grown = (2 * first if first > rows else rows, 2 * second if second > columns else columns)
        table = self.library.full(grown, -1, "int64")
        table[:rows, :columns] = self._table.reshape(rows, columns)
        self._shape, self._table = grown, table.reshape(-1)


class RowIndex:
    """Numbers rows of several columns."""

    def __init__(self, library: ArrayLibrary, columns: int) -> None:
        self._pairs = [PairIndex(library) for _ in range(columns - 1)]

    def __call__(self, columns: Sequence[Numbers], added: Callable[[int], None] | None = None) -> Numbers:
        """The number of each row; ``added`` is called with one row of each new number, in ascending order."""
        found = columns[0]
        last = len(self._pairs) - 1
        for place, (pair, column) in enumerate(zip(self._pairs, columns[1:], strict=True)):
            found = pair(found, column, added if place == last else None)
        return found


class RowTable:
    """Values stored for each distinct row: computed once for one row of each kind, looked up for all others."""

    def __init__(self, library: ArrayLibrary, columns: int, width: int) -> None:
        self.library, self.width = library, width
        self._index = RowIndex(library, columns)
        self._values = library.zeros((width, 64))
        self.size = 0

    def __call__(self, columns: Sequence[Numbers], compute: Callable[[int], Sequence[float]]) -> list[Array]:
        """The values of each row, one column per value; ``compute`` returns them for the row at a position."""
        return self.look_up(self.number(columns, compute))

    def number(self, columns: Sequence[Numbers], compute: Callable[[int], Sequence[float]]) -> Numbers:
        """The number of each row, which `look_up` takes."""
        fresh: list[Sequence[float]] = []
        found = self._index(columns, lambda row: fresh.append(compute(row)))
        if fresh:
            self._add(fresh)
        return found

    def in_bulk(self, columns: Sequence[Numbers], compute: Callable[[Array], Sequence[Array]]) -> list[Array]:
        """The same as a call; ``compute`` returns the columns for one row of every new kind."""
        rows: list[int] = []
        found = self._index(columns, rows.append)
        if rows:
            self._add_columns(len(rows), compute(self.library.asarray(rows, "int64")))
        return self.look_up(found)

    def look_up(self, numbers: Numbers) -> list[Array]:
        """The values stored for each row, one column per value."""
        return [self._values[place].take(numbers.values) for place in range(self.width)]

    def _add(self, fresh: Sequence[Sequence[float]]) -> None:
        columns = [self.library.asarray([row[place] for row in fresh]) for place in range(self.width)]
        self._add_columns(len(fresh), columns)

    def _add_columns(self, count: int, columns: Sequence[Array]) -> None:
        end = self.size + count
        if end > len(self._values[0]):
            grown = self.library.zeros((self.width, 2 * end))
            grown[:, : self.size] = self._values[:, : self.size]
            self._values = grown
        for place, column in enumerate(columns):
            self._values[place, self.size : end] = column
        self.size = end
