"""Numbers for distinct rows of integers, tables of values by these numbers, and the index of placements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from clusterspec.cluster.groups import AXES, EXPERT_AXES
from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.columns import Array, ArrayLibrary, HashTable
from clusterspec.cost.layer_tables import Group
from clusterspec.records import NamedTuple


class Numbers(NamedTuple):
    """The number of each row, all of them below ``end``."""

    values: Array
    end: int

    def take(self, rows: Array) -> Numbers:
        """The numbers of the given rows."""
        return Numbers(self.values.take(rows), self.end)


DENSE = 1 << 18
"""Entries of the largest dense table: two megabytes, which fit the caches of one core."""
FAR = 1 << 32
"""The distance of the codes of two pairs with neighboring first numbers, above any second number."""


class ValueIndex:
    """Numbers the values of one column 0, 1, 2 … in the order of their first occurrence."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._table = library.full(64, -1, "int64")

    def __call__(self, values: Array) -> Numbers:
        """The number of each value; values are non-negative integers."""
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
    """Numbers the pairs of two columns of numbers: by a dense table while it is small, else by a hash table."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._shape = (8, 8)
        self._table = library.full(64, -1, "int64")
        self._hashed: HashTable | None = None

    def __call__(self, first: Numbers, second: Numbers) -> Numbers:
        """The number of each pair."""
        return self.numbers_and_new_rows(first, second)[0]

    def numbers_and_new_rows(self, first: Numbers, second: Numbers) -> tuple[Numbers, Array | None]:
        """The number of each pair, and the position of one row for each new pair, ordered by number; None if no pair is
        new.
        """
        code = self._pair_codes(first, second)
        found = self._values_of_codes(code)
        if found.min() >= 0:
            return Numbers(found, self.size), None
        rows = self.library.flatnonzero(found < 0)
        new, where = self.library.unique(code[rows], return_index=True)
        numbers = self.library.arange(len(new)) + self.size
        if self._hashed is None:
            self._table[new] = numbers
        else:
            self._hashed.add(new, numbers)
        self.size += len(new)
        return Numbers(self._values_of_codes(code), self.size), rows[where]

    def _values_of_codes(self, codes: Array) -> Array:
        return self._table.take(codes) if self._hashed is None else self._hashed.find(codes)

    def _pair_codes(self, first: Numbers, second: Numbers) -> Array:
        if self._hashed is None:
            self._grow(first.end, second.end)
        return first.values * (FAR if self._hashed else self._shape[1]) + second.values

    def _grow(self, first: int, second: int) -> None:
        rows, columns = self._shape
        if first <= rows and second <= columns:
            return
        grown = (2 * first if first > rows else rows, 2 * second if second > columns else columns)
        if grown[0] * grown[1] > DENSE:
            self._hashed = self._as_hashed()
            return
        table = self.library.full(grown, -1, "int64")
        table[:rows, :columns] = self._table.reshape(rows, columns)
        self._shape, self._table = grown, table.reshape(-1)

    def _as_hashed(self) -> HashTable:
        """A hash table with all pairs of the dense table."""
        pairs = self.library.flatnonzero(self._table > -1)
        found = HashTable(self.library)
        codes = pairs // self._shape[1] * FAR + pairs % self._shape[1]
        found.add(codes, self._table.take(pairs))
        self._table = self.library.zeros(0, "int64")
        return found


class RowIndex:
    """Numbers rows of two or more columns."""

    def __init__(self, library: ArrayLibrary, columns: int) -> None:
        self._pairs = [PairIndex(library) for _ in range(columns - 1)]

    def __call__(self, columns: Sequence[Numbers]) -> Numbers:
        """The number of each row."""
        return self.numbers_and_new_rows(columns)[0]

    def numbers_and_new_rows(self, columns: Sequence[Numbers]) -> tuple[Numbers, Array | None]:
        """The number of each row, and the position of one row for each new number, ascending; None if no row is new."""
        found, rows = columns[0], None
        for pair, column in zip(self._pairs, columns[1:], strict=True):
            found, rows = pair.numbers_and_new_rows(found, column)
        return found, rows


class RowTable:
    """Values for each distinct row, computed once and looked up for all equal rows."""

    def __init__(self, library: ArrayLibrary, columns: int, width: int) -> None:
        self.library, self.width = library, width
        self._index = RowIndex(library, columns)
        self._values = library.zeros((width, 64))
        self.size = 0

    def __call__(self, columns: Sequence[Numbers], compute: Callable[[Array], Sequence[Array]]) -> list[Array]:
        """The values of each row, one column per value; ``compute`` returns the columns for one row of every new
        kind, given the positions of those rows.
        """
        return self.look_up(self.numbers_of(columns, compute))

    def one_by_one(self, columns: Sequence[Numbers], compute: Callable[[int], Sequence[float]]) -> list[Array]:
        """Like a call, but ``compute`` returns the values of one row, given its position."""
        return self(columns, lambda rows: self.computed_columns(rows, compute))

    def numbers_of(self, columns: Sequence[Numbers], compute: Callable[[Array], Sequence[Array]]) -> Numbers:
        """The number of each row, which `look_up` takes."""
        found, rows = self._index.numbers_and_new_rows(columns)
        if rows is not None:
            self.add(len(rows), compute(rows))
        return found

    def reserve(self, columns: Sequence[Numbers]) -> tuple[Numbers, Array | None]:
        """The number of each row, and the new rows: `add` takes their values in this order."""
        return self._index.numbers_and_new_rows(columns)

    def add(self, count: int, columns: Sequence[Array]) -> None:
        """Stores the values of ``count`` new numbers."""
        end = self.size + count
        if end > len(self._values[0]):
            grown = self.library.zeros((self.width, 2 * end))
            grown[:, : self.size] = self._values[:, : self.size]
            self._values = grown
        for place, column in enumerate(columns):
            self._values[place, self.size : end] = column
        self.size = end

    def look_up(self, numbers: Numbers, places: Iterable[int] | None = None) -> list[Array]:
        """The stored values of each row, one column per value; ``places`` selects some of the values."""
        return [self._values[place].take(numbers.values) for place in places or range(self.width)]

    def computed_columns(self, rows: Array, compute: Callable[[int], Sequence[float]]) -> Sequence[Array]:
        """The columns of the values that ``compute`` returns, called once per position."""
        values = [compute(row) for row in rows.tolist()]
        return [self.library.asarray([each[place] for each in values]) for place in range(self.width)]


class ValueTable:
    """``width`` values for each number; new numbers are reserved first and filled together."""

    def __init__(self, library: ArrayLibrary, width: int) -> None:
        self.library = library
        self._values = [library.zeros(64) for _ in range(width)]
        self._known = library.zeros(64, "bool")
        self._waiting: list[Array] = []

    def __getitem__(self, numbers: Numbers) -> list[Array]:
        return [column.take(numbers.values) for column in self._values]

    def reserve(self, numbers: Numbers) -> Array | None:
        """The positions of rows whose values `fill` has to supply, in this order, one for each new number; None if
        there is none.
        """
        if numbers.end > len(self._known):
            self._grow(2 * numbers.end)
        rows = self.library.flatnonzero(self.library.logical_not(self._known.take(numbers.values)))
        if not len(rows):
            return None
        new, where = self.library.unique(numbers.values[rows], return_index=True)
        self._known[new] = True
        self._waiting.append(new)
        return rows[where]

    def _grow(self, size: int) -> None:
        old, self._known = self._known, self.library.zeros(size, "bool")
        self._known[: len(old)] = old
        for at, column in enumerate(self._values):
            self._values[at] = self.library.zeros(size)
            self._values[at][: len(column)] = column

    def fill(self, columns: Sequence[Array]) -> None:
        """Stores the values of all reserved numbers."""
        waiting = self.library.concatenate(self._waiting)
        for stored, column in zip(self._values, columns, strict=True):
            stored[waiting] = column
        self._waiting = []


def joined_numbers(library: ArrayLibrary, parts: Sequence[Numbers]) -> Numbers:
    """The numbers of all parts, in order."""
    return Numbers(library.concatenate([part.values for part in parts]), max(part.end for part in parts))


# Placement of the groups of many layouts: the digits of a rank and their strides, as columns

HALVES = {"cp": ("cp_shard", "cp_replicate"), "dp": ("dp_shard", "dp_replicate")}
"""The digits of an axis that shard groups split."""
WHOLE = {"cp": ("cp",), "dp_cp": ("cp", "dp")}
"""The digit of an axis that nothing splits."""
EXPERT = {"tp": "expert_tp", "ep": "ep", "dp": "expert_dp", "dp_shard": "expert_dp", "pp": "pp"}


GroupOf = Callable[[int, str], Group]
"""The groups of the layout of one row along an axis."""


class PlacementIndex:
    """Numbers the groups of each axis; layouts with the same number have groups with the same paths."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self._value = ValueIndex(library)
        self._tables: dict[tuple[str, int], RowTable] = {}
        self._numbers: dict[Group, int] = {}
        self.groups: list[Group] = []
        """The groups, by group number."""

    def numbers_of(
        self, template: Layout, columns: Mapping[str, Array], axes: Iterable[str], group_of: GroupOf
    ) -> dict[str, Numbers]:
        """The numbers of the groups of each axis; ``columns`` hold the degrees, expert_dp and all ranks."""
        split = template.sharding == "hsdp" or "dp_shard" in template.order
        digits = _dense_digits(template.order, split)
        dense = self._digit_strides(digits, self._split_sizes(columns) if split else columns)
        expert = self._digit_strides([EXPERT[axis] for axis in template.order if axis in EXPERT], columns)
        ranks = self._value(columns["ranks"])  # they determine where the other groups of an axis lie
        return {
            axis: self._group_numbers(axis, ranks, expert if axis in EXPERT_AXES else dense, group_of) for axis in axes
        }

    def numbers_of_group(self, group: Group, count: int) -> Numbers:
        """The number of one group, for each of ``count`` rows."""
        number = self._group_number(group)
        return Numbers(self.library.full(count, number, "int64"), len(self._numbers))

    def _split_sizes(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        cp, dp, group = columns["cp"], columns["dp"], columns["shard_group"]
        of_cp = self.library.gcd(group, cp)
        of_dp = self.library.gcd(group // of_cp, dp)
        halves = {"cp_shard": of_cp, "cp_replicate": cp // of_cp, "dp_shard": of_dp, "dp_replicate": dp // of_dp}
        return {"tp": columns["tp"], "pp": columns["pp"], **halves}

    def _digit_strides(self, digits: list[str], sizes: Mapping[str, Array]) -> dict[str, tuple[Array, Array]]:
        """Size and stride of each digit; a digit of size one has none."""
        found = {}
        stride: Array | None = None
        for digit in digits:
            size = sizes[digit]
            known = self.library.ones_like(size) if stride is None else stride
            found[digit] = (size, self.library.where(size > 1, known, 0))
            stride = size if stride is None else stride * size
        return found

    def _group_numbers(
        self, axis: str, ranks: Numbers, digits: Mapping[str, tuple[Array, Array]], group_of: GroupOf
    ) -> Numbers:
        pairs = [pair for digit, pair in digits.items() if digit in WHOLE.get(axis, ()) or digit in AXES[axis]]
        columns = [ranks, *(self._value(column) for pair in pairs for column in pair)]
        key = (axis, len(columns))
        if key not in self._tables:
            self._tables[key] = RowTable(self.library, len(columns), 1)
        (found,) = self._tables[key].one_by_one(columns, lambda row: (self._group_number(group_of(row, axis)),))
        return Numbers(self.library.asarray(found, "int64"), len(self._numbers))

    def _group_number(self, group: Group) -> int:
        if group not in self._numbers:
            self._numbers[group] = len(self.groups)
            self.groups.append(group)
        return self._numbers[group]


def _dense_digits(order: tuple[str, ...], split: bool) -> list[str]:
    axes = [axis for axis in order if axis != "ep"]
    return [digit for axis in axes for digit in HALVES.get(axis, (axis,))] if split else axes
