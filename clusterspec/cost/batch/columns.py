"""Layouts as columns of degrees: the array protocol, process groups as columns, and a hash table of codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any, Literal, Protocol, TypeVar, cast

from clusterspec.cluster.degrees import even_stages, usual_overlap
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.layer_tables import Group, NoPathError
from clusterspec.records import NamedTuple, replace


class Array(Protocol):
    """An array of numbers of one or more dimensions."""

    def __getitem__(self, index: object, /) -> Array: ...
    def __setitem__(self, index: object, value: object, /) -> None: ...
    def __add__(self, other: Array | float, /) -> Array: ...
    def __sub__(self, other: Array | float, /) -> Array: ...
    def __mul__(self, other: Array | float, /) -> Array: ...
    def __rmul__(self, other: Array | float, /) -> Array: ...
    def __floordiv__(self, other: Array | float, /) -> Array: ...
    def __rfloordiv__(self, other: int, /) -> Array: ...
    def __mod__(self, other: int, /) -> Array: ...
    def __and__(self, other: int, /) -> Array: ...
    def __rshift__(self, other: int, /) -> Array: ...
    def __int__(self) -> int: ...
    def __lt__(self, other: Array | float, /) -> Array: ...
    def __gt__(self, other: Array | float, /) -> Array: ...
    def __len__(self) -> int: ...
    def any(self) -> bool: ...
    def max(self) -> float: ...
    def min(self) -> float: ...
    def take(self, indices: Array, /) -> Array: ...
    def tolist(self) -> list[int]: ...
    def reshape(self, *shape: int) -> Array: ...


class ArrayLibrary(Protocol):
    """The functions of an array library that a batch uses; NumPy has them all."""

    def asarray(self, values: object, dtype: str | None = None) -> Array: ...
    def full(self, shape: object, value: float, dtype: str | None = None) -> Array: ...
    def zeros(self, shape: object, dtype: str | None = None) -> Array: ...
    def maximum(self, first: Array, second: Array | float, /) -> Array: ...
    def where(self, condition: Array, yes: Array | float, no: Array | float, /) -> Array: ...
    def equal(self, first: Array, second: Array | int, /) -> Array: ...
    def not_equal(self, first: Array, second: Array | int, /) -> Array: ...
    def logical_not(self, array: Array, /) -> Array: ...
    def flatnonzero(self, array: Array) -> Array: ...
    def unique(self, array: Array, *, return_index: Literal[True]) -> tuple[Array, Array]: ...
    def concatenate(self, arrays: Sequence[Array], /) -> Array: ...
    def arange(self, count: int, /) -> Array: ...
    def gcd(self, first: Array, second: Array, /) -> Array: ...
    def ones_like(self, array: Array, /) -> Array: ...


# One layout of a batch, from its variant and its degrees


def variant_of(layout: Layout, **choices: Any) -> Layout:
    """The layout with other choices. Unless the spec states the overlap, it changes to the usual one for the new
    sharding and schedule.
    """
    changed = replace(layout, **choices)
    usual = usual_overlap(changed.schedule, changed.sharding, changed.stack)
    assumed = {axis: hides for axis, (hides, _) in usual.items() if f"overlap.{axis}" not in layout.stated}
    return replace(changed, overlap=replace(changed.overlap, **assumed))


DEGREES = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "virtual_stages", "micro_batch", "shard_group")
"""The numbers of a layout that differ within a batch, in ranks, chunks and sequences."""


def layout_of(variant: Layout, workload: Workload, degrees: Mapping[str, int]) -> Layout:
    """``variant`` with these `DEGREES`; its layers are spread over the stages as evenly as possible."""
    tp, cp, ep, expert_tp, pp, dp, virtual_stages, micro_batch, shard_group = (degrees[name] for name in DEGREES)
    ranks = tp * cp * pp * dp
    return replace(
        variant,
        tp=tp,
        cp=cp,
        ep=ep,
        expert_tp=expert_tp,
        pp=pp,
        dp=dp,
        virtual_stages=virtual_stages,
        micro_batch=micro_batch,
        shard_group=shard_group,
        ranks=ranks,
        expert_dp=max(1, ranks // (expert_tp * ep * pp)),
        stage_layers=even_stages(workload.model.layers, pp * virtual_stages),
        micro_batches=max(1, workload.global_batch // (dp * micro_batch)),
    )


# Layouts as columns of degrees, and the choices of a layout that are not numbers

K = TypeVar("K")
T = TypeVar("T")


def as_number(column: Array) -> float:
    """A column, typed as the number that a formula declares; formulas accept both."""
    return cast(float, column)


def as_column(value: float) -> Array:
    """The result of a formula whose arguments are columns, typed as a column."""
    return cast(Array, value)


def as_integer(values: Array) -> int:
    """A column, typed as the integer that a layout declares."""
    return cast(int, values)


def stored_value(tables: dict[K, T], key: K, made: Callable[[], T]) -> T:
    """The value stored under a key, made when it is first requested."""
    if key not in tables:
        tables[key] = made()
    return tables[key]


class Variant(NamedTuple):
    """The choices of a layout that vary inside a batch and are not numbers.

    ``method`` of context parallelism is empty if there is none, and ``sequence_parallel`` False without tensor
    parallelism.
    """

    recompute: str | tuple[str, ...]
    method: str
    sequence_parallel: bool

    def of(self, template: Layout) -> Layout:
        """The template with these choices."""
        return replace(
            template,
            recompute=self.recompute,
            cp_method=self.method or template.cp_method,
            sequence_parallel=self.sequence_parallel,
        )


class LayoutColumns(NamedTuple):
    """Some layouts: columns of integers for the `DEGREES` and expert_dp, and the number of each layout's variant."""

    library: ArrayLibrary
    workload: Workload
    degrees: Mapping[str, Array]
    variant: Array

    def rows_at(self, rows: Array) -> LayoutColumns:
        """The rows at the given positions."""
        degrees = {name: column.take(rows) for name, column in self.degrees.items()}
        return self._replace(degrees=degrees, variant=self.variant.take(rows))

    def layout(self, row: int, template: Layout) -> Layout:
        """The layout at a position, with the choices of a template."""
        return layout_of(template, self.workload, {name: int(self.degrees[name][row]) for name in DEGREES})

    @property
    def micro_batches(self) -> Array:
        """Micro-batches of one replica and step."""
        each = self.degrees["dp"] * self.degrees["micro_batch"]
        return self.library.maximum(self.workload.global_batch // each, 1)

    def column_layout(self, template: Layout, ones: Sequence[str] = ()) -> Layout:
        """One layout whose degrees are columns over all rows; a degree named in ``ones`` is 1 for all rows."""
        floats: dict[str, Any] = {name: self._float64_values(column) for name, column in self.degrees.items()}
        floats |= dict.fromkeys(ones, 1)
        return replace(template, **floats, micro_batches=as_integer(self._float64_values(self.micro_batches)))

    def _float64_values(self, values: Array) -> Array:
        return self.library.asarray(values, "float64")


def joined_layouts(parts: Sequence[LayoutColumns]) -> LayoutColumns:
    """The layouts of all parts, in order."""
    library = parts[0].library
    degrees = {name: library.concatenate([part.degrees[name] for part in parts]) for name in parts[0].degrees}
    return parts[0]._replace(degrees=degrees, variant=library.concatenate([part.variant for part in parts]))


def positions_by_number(library: ArrayLibrary, codes: Array) -> dict[int, Array]:
    """The positions of each distinct number in a column."""
    found, _ = library.unique(codes, return_index=True)
    return {code: library.flatnonzero(library.equal(codes, code)) for code in found.tolist()}


# The process groups of one axis in many layouts, and the time of their collectives


class QueuedSeconds(NamedTuple):
    """The seconds of one collective on the device in each layout, launch overhead excluded."""

    device_seconds: float


class GroupColumns:
    """The groups of one axis, one for each layout: ``numbers`` are positions in ``groups``."""

    def __init__(self, library: ArrayLibrary, groups: Sequence[Group], numbers: Array) -> None:
        self.library, self.count = library, len(numbers)
        self._groups = [(groups[index], rows) for index, rows in positions_by_number(library, numbers).items()]

    @property
    def domains(self) -> float:
        """Scale-up domains that one group spans."""
        found = self.library.full(self.count, 1.0)
        for group, rows in self._groups:
            found[rows] = group.domains
        return as_number(found)

    @property
    def island(self) -> GroupColumns:
        """The ranks of each group that are in one island, as `Group.island`."""
        found = GroupColumns(self.library, (), self.library.zeros(0))
        found.count, found._groups = self.count, [(group.island, rows) for group, rows in self._groups]
        return found

    def cost(self, name: str, size: float) -> QueuedSeconds:
        """One collective of ``size`` bytes in each layout: 0 seconds if nothing is sent, not a number if no links
        connect the ranks.
        """
        sizes = self.library.full(self.count, 0.0) + size
        found = self.library.full(self.count, 0.0)
        for group, rows in self._groups:
            if group.placement.ranks > 1:
                sent = sizes.take(rows)
                found[rows] = self.library.where(sent > 0, _queued_column(group, name, sent), 0.0)
        return QueuedSeconds(as_number(found))


def _queued_column(group: Group, name: str, sizes: Array) -> Array | float:
    try:
        return as_column(group.timing(name).device_seconds(as_number(sizes)))
    except NoPathError:
        return nan


# A hash table of whole columns: open addressing, with linear probing of all columns at once

SPREAD = 0x9E3779B1
"""An odd multiplier whose products differ in their upper bits (Knuth, The Art of Computer Programming 3, 6.4)."""
SHIFT = 20
"""Bits by which a code is shifted and combined with itself before the multiplication, so that both halves of a code
count.
"""
LOAD = 3
"""Slots for each entry, at least."""


class HashTable:
    """Maps codes to numbers. Codes are non-negative integers."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._keys = library.full(1 << 10, -1, "int64")
        self._numbers = library.full(1 << 10, -1, "int64")

    def find(self, codes: Array) -> Array:
        """The number of each code, -1 if there is none."""
        slots = self._slots(codes)
        found, keys = self._numbers.take(slots), self._keys.take(slots)
        rows = self.library.flatnonzero(self.library.not_equal(keys, codes))
        while len(rows):
            keys = self._keys.take(slots[rows])
            found[rows[keys < 0]] = -1
            rows = rows[keys > -1]
            slots[rows] = (slots[rows] + 1) % len(self._keys)
            keys = self._keys.take(slots[rows])
            found[rows] = self._numbers.take(slots[rows])
            rows = rows[self.library.not_equal(keys, codes[rows])]
        return found

    def add(self, codes: Array, numbers: Array) -> None:
        """Adds codes that the table does not have, each once."""
        self.size += len(codes)
        if LOAD * self.size > len(self._keys):
            self._enlarge()
        slots = self._slots(codes)
        while len(codes):
            free = self._keys.take(slots) < 0
            self._keys[slots[free]] = codes[free]
            placed = self.library.equal(self._keys.take(slots), codes)
            self._numbers[slots[placed]] = numbers[placed]
            left = self.library.flatnonzero(self.library.logical_not(placed))
            codes, numbers, slots = codes[left], numbers[left], (slots[left] + 1) % len(self._keys)

    def _slots(self, codes: Array) -> Array:
        mixed = (codes + (codes >> SHIFT)) * SPREAD
        return (mixed >> SHIFT) & (len(self._keys) - 1)

    def _enlarge(self) -> None:
        rows = self.library.flatnonzero(self._keys > -1)
        codes, numbers = self._keys.take(rows), self._numbers.take(rows)
        length = len(self._keys)
        while LOAD * self.size > length // 2:
            length *= 2
        self._keys, self._numbers = (self.library.full(length, -1, "int64") for _ in range(2))
        self.size -= len(codes)
        self.add(codes, numbers)
