"""Layouts as columns of degrees, and the choices of a layout that are not numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.layouts import DEGREES, layout_of
from clusterspec.records import NamedTuple, replace

K = TypeVar("K")
T = TypeVar("T")


def number(column: Array) -> float:
    """A column, typed as the number that a formula declares; formulas accept both."""
    return cast(float, column)


def column(value: float) -> Array:
    """The result of a formula whose arguments are columns, typed as a column."""
    return cast(Array, value)


def whole(values: Array) -> int:
    """A column, typed as the integer that a layout declares."""
    return cast(int, values)


def kept(tables: dict[K, T], key: K, made: Callable[[], T]) -> T:
    """The value stored under a key, made when it is first requested."""
    if key not in tables:
        tables[key] = made()
    return tables[key]


class Variant(NamedTuple):
    """The choices of a layout that vary inside a batch and are not numbers.

    ``method`` of context parallelism is empty where there is none, and ``sequence_parallel`` False without tensor
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

    def some(self, rows: Array) -> LayoutColumns:
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

    def together(self, template: Layout, ones: Sequence[str] = ()) -> Layout:
        """One layout whose degrees are columns of all rows; the degrees named in ``ones`` are 1 in all rows."""
        floats: dict[str, Any] = {name: self._float(column) for name, column in self.degrees.items()}
        floats |= dict.fromkeys(ones, 1)
        return replace(template, **floats, micro_batches=whole(self._float(self.micro_batches)))

    def _float(self, values: Array) -> Array:
        return self.library.asarray(values, "float64")


def joined(parts: Sequence[LayoutColumns]) -> LayoutColumns:
    """The layouts of all parts, in order."""
    library = parts[0].library
    degrees = {name: library.concatenate([part.degrees[name] for part in parts]) for name in parts[0].degrees}
    return parts[0]._replace(degrees=degrees, variant=library.concatenate([part.variant for part in parts]))


def positions(library: ArrayLibrary, codes: Array) -> dict[int, Array]:
    """The positions of each distinct number in a column."""
    found, _ = library.unique(codes, return_index=True)
    return {code: library.flatnonzero(library.equal(codes, code)) for code in found.tolist()}
