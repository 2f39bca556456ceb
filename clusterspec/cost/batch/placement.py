"""Placement of the groups of many layouts: the digits of a rank and their strides, as columns.

The digits are those of `clusterspec.cluster.groups`: sizes in ranks, the fastest-varying first. Two layouts whose
digits of an axis have equal sizes and strides have equal groups along it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from clusterspec.cluster.groups import AXES, EXPERT_AXES
from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.index import Numbers, RowTable, ValueIndex
from clusterspec.cost.tables.group import Group

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
        """The groups by their number."""

    def number(
        self, template: Layout, columns: Mapping[str, Array], axes: Iterable[str], group_of: GroupOf
    ) -> dict[str, Numbers]:
        """The numbers of the groups of each axis; ``columns`` hold the degrees and expert_dp."""
        split = template.sharding == "hsdp" or "dp_shard" in template.order
        digits = _dense_digits(template.order, split)
        dense = self._strides(digits, self._halves(columns) if split else columns)
        expert = self._strides([EXPERT[axis] for axis in template.order if axis in EXPERT], columns)
        return {axis: self._numbered(axis, expert if axis in EXPERT_AXES else dense, group_of) for axis in axes}

    def _halves(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        cp, dp, group = columns["cp"], columns["dp"], columns["shard_group"]
        of_cp = self.library.gcd(group, cp)
        of_dp = self.library.gcd(group // of_cp, dp)
        halves = {"cp_shard": of_cp, "cp_replicate": cp // of_cp, "dp_shard": of_dp, "dp_replicate": dp // of_dp}
        return {"tp": columns["tp"], "pp": columns["pp"], **halves}

    def _strides(self, digits: list[str], sizes: Mapping[str, Array]) -> dict[str, tuple[Array, Array]]:
        """Size and stride of each digit; a digit of size one has none."""
        found = {}
        stride: Array | None = None
        for digit in digits:
            size = sizes[digit]
            known = self.library.ones_like(size) if stride is None else stride
            found[digit] = (size, self.library.where(size > 1, known, 0))
            stride = size if stride is None else stride * size
        return found

    def _numbered(self, axis: str, digits: Mapping[str, tuple[Array, Array]], group_of: GroupOf) -> Numbers:
        pairs = [pair for digit, pair in digits.items() if digit in WHOLE.get(axis, ()) or digit in AXES[axis]]
        columns = [self._value(column) for pair in pairs for column in pair]
        key = (axis, len(columns))
        if key not in self._tables:
            self._tables[key] = RowTable(self.library, len(columns), 1)
        (found,) = self._tables[key].one_by_one(columns, lambda row: (self._number_of(group_of(row, axis)),))
        return Numbers(self.library.asarray(found, "int64"), len(self._numbers))

    def _number_of(self, group: Group) -> int:
        if group not in self._numbers:
            self._numbers[group] = len(self.groups)
            self.groups.append(group)
        return self._numbers[group]


def _dense_digits(order: tuple[str, ...], split: bool) -> list[str]:
    axes = [axis for axis in order if axis != "ep"]
    return [digit for axis in axes for digit in HALVES.get(axis, (axis,))] if split else axes
