"""What is kept of a search: the best layouts by an objective, and the Pareto front of step time and memory.

Blocks of layouts arrive as columns, NumPy arrays or lists; both reductions give the same rows, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import Generic, TypeVar

from clusterspec.records import dataclass, field

Row = TypeVar("Row")
Numbers = Sequence[float]


@dataclass(frozen=True, slots=True)
class Kept(Generic[Row]):
    """One layout that was kept: its step time in seconds, its memory in bytes, its rank by the objective, and what
    identifies it. ``number`` counts layouts in the order of the search, which breaks ties."""

    key: float
    step_time: float
    memory: float
    number: int
    row: Row


@dataclass
class Best(Generic[Row]):
    """The ``top`` layouts by an objective so far."""

    top: int
    rows: list[Kept[Row]] = field(default_factory=list)

    def add(self, found: Sequence[Kept[Row]]) -> None:
        self.rows = nsmallest(self.top, (*self.rows, *found), key=_by_key)

    @property
    def limit(self) -> float:
        """The key from which on a layout is not kept."""
        return self.rows[-1].key if len(self.rows) == self.top else float("inf")


def _by_key(kept: Kept[Row]) -> tuple[float, float, int]:
    return (kept.key, kept.memory, kept.number)


@dataclass
class Front(Generic[Row]):
    """The layouts that no other beats in both step time and memory, the fastest first."""

    rows: list[Kept[Row]] = field(default_factory=list)

    def add(self, found: Sequence[Kept[Row]]) -> None:
        merged = sorted((*self.rows, *found), key=lambda kept: (kept.step_time, kept.memory, kept.number))
        self.rows = []
        least = float("inf")
        for kept in merged:
            if kept.memory < least:
                self.rows.append(kept)
                least = kept.memory


def smallest(values: Numbers, count: int) -> list[int]:
    """The indices of the ``count`` smallest values, ascending by value and index.

    >>> smallest([3.0, 1.0, 2.0, 1.0], 3)
    [1, 3, 2]
    """
    if hasattr(values, "__array_namespace__"):
        import numpy

        array = numpy.asarray(values)
        if len(array) > count:
            bound = numpy.partition(array, count - 1)[count - 1]
            near = numpy.flatnonzero(array <= bound)
        else:
            near = numpy.arange(len(array))
        return [int(index) for index in near[numpy.argsort(array[near], kind="stable")][:count]]
    return nsmallest(count, range(len(values)), key=lambda index: (values[index], index))


def front_of(times: Numbers, memories: Numbers) -> list[int]:
    """The indices of the Pareto front of two columns, ascending by the first.

    >>> front_of([1.0, 2.0, 3.0, 2.5], [9.0, 5.0, 5.0, 4.0])
    [0, 1, 3]
    """
    if hasattr(times, "__array_namespace__"):
        import numpy

        first, second = numpy.asarray(times), numpy.asarray(memories)
        ranked = numpy.lexsort((second, first))
        so_far = numpy.minimum.accumulate(second[ranked])
        kept = numpy.concatenate(([True], second[ranked][1:] < so_far[:-1])) if len(ranked) else numpy.zeros(0, bool)
        return [int(index) for index in ranked[kept]]
    order = sorted(range(len(times)), key=lambda index: (times[index], memories[index], index))
    found, least = [], float("inf")
    for index in order:
        if memories[index] < least:
            found.append(index)
            least = memories[index]
    return found
