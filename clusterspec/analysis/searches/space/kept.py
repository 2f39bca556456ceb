"""Results kept by a search: the best layouts by an objective, and the Pareto front of step time and memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import nsmallest
from itertools import pairwise
from math import inf

from clusterspec.records import dataclass, field

Numbers = Sequence[float]


@dataclass(frozen=True)
class Kept:
    """A layout that the search keeps: step time in seconds, memory in bytes, the value by which it is ranked, and its
    number in the search space, which breaks ties.
    """

    key: float
    step_time: float
    memory: float
    number: int


@dataclass
class BestLayouts:
    """The ``top`` layouts by an objective so far."""

    top: int
    rows: list[Kept] = field(default_factory=list)

    def add(self, layouts: Sequence[Kept]) -> None:
        self.rows = nsmallest(self.top, (*self.rows, *layouts), key=ranking_values)


def ranking_values(layout: Kept) -> tuple[float, float, float, int]:
    """The values by which layouts are ordered: the objective, then tie-breakers."""
    return (layout.key, layout.step_time, layout.memory, layout.number)


@dataclass
class ParetoFront:
    """The Pareto front of step time and memory, fastest first."""

    rows: list[Kept] = field(default_factory=list)

    def add(self, layouts: Sequence[Kept]) -> None:
        merged = sorted((*self.rows, *layouts), key=lambda kept: (kept.step_time, kept.memory, kept.number))
        self.rows = []
        least = float("inf")
        for kept in merged:
            if kept.memory < least:
                self.rows.append(kept)
                least = kept.memory


def smallest_indices(values: Numbers, count: int) -> list[int]:
    """The indices of the ``count`` smallest values, ascending by value and index.

    >>> smallest_indices([3.0, 1.0, 2.0, 1.0], 3)
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
        if not len(first):
            return []
        pivot = int(numpy.argmin(first * second))  # most rows are no better in either column: they are not sorted
        near = numpy.flatnonzero((first < first[pivot]) | (second < second[pivot]))
        near = numpy.insert(near, numpy.searchsorted(near, pivot), pivot)
        ranked = near[numpy.lexsort((second[near], first[near]))]
        so_far = numpy.minimum.accumulate(second[ranked])
        kept = numpy.concatenate(([True], second[ranked][1:] < so_far[:-1]))
        return [int(index) for index in ranked[kept]]
    order = sorted(range(len(times)), key=lambda index: (times[index], memories[index], index))
    found, least = [], float("inf")
    for index in order:
        if memories[index] < least:
            found.append(index)
            least = memories[index]
    return found


def indices_up_to(values: Numbers, most: float) -> Sequence[int]:
    """The indices of the values up to ``most``, except those that are infinite or not a number."""
    if hasattr(values, "__array_namespace__"):
        import numpy

        column = numpy.asarray(values)
        return numpy.flatnonzero((column <= most) if most < inf else (column < most))  # type: ignore[return-value]
    return [at for at, value in enumerate(values) if value <= most and value < inf]


def lowest_of_families(values: Numbers, numbers: Numbers, firsts: Sequence[int]) -> list[int]:
    """The index of the smallest value of each family; the layout numbers of a family begin at one of ``firsts``.

    A descending number begins another part, whose families count separately.

    >>> lowest_of_families([3.0, 1.0, 2.0, 5.0, 4.0], [0, 1, 4, 6, 1], [0, 2, 4, 9])
    [1, 2, 4]
    """
    if hasattr(values, "__array_namespace__"):
        import numpy

        column, ordinals = numpy.asarray(values), numpy.asarray(numbers)
        parts = [0, *(numpy.flatnonzero(ordinals[1:] < ordinals[:-1]) + 1).tolist(), len(ordinals)]
        starts = numpy.asarray(firsts[:-1])
        found = [first + numpy.searchsorted(ordinals[first:end], starts) for first, end in pairwise(parts)]
        bounds = numpy.unique(numpy.concatenate(found)) if found else starts[:0]
        bounds = bounds[bounds < len(column)]
        if not len(bounds):
            return []
        lengths = numpy.diff(numpy.append(bounds, len(column)))
        least = numpy.flatnonzero(column == numpy.repeat(numpy.minimum.reduceat(column, bounds), lengths))
        _, once = numpy.unique(numpy.searchsorted(bounds, least, "right"), return_index=True)
        return [int(index) for index in least[once]]
    best: dict[tuple[int, int], int] = {}
    part = 0
    for index, (value, number) in enumerate(zip(values, numbers, strict=True)):
        part += index > 0 and number < numbers[index - 1]
        family = (part, bisect_right(firsts, number))
        if family not in best or value < values[best[family]]:
            best[family] = index
    return list(best.values())
