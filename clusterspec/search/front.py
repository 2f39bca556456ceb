"""Results kept by a search: the best layouts by an objective, and the Pareto front of step time and memory.

Blocks of layouts arrive as columns, NumPy arrays or lists; both reductions give the same rows, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from math import inf

from clusterspec.records import dataclass, field

Numbers = Sequence[float]


@dataclass(frozen=True, slots=True)
class Kept:
    """One layout that was kept: its step time in seconds, its memory in bytes, the value that it is ranked by, and its
    number in the space, which breaks ties."""

    key: float
    step_time: float
    memory: float
    number: int


@dataclass
class Best:
    """The ``top`` layouts by an objective so far."""

    top: int
    rows: list[Kept] = field(default_factory=list)

    def add(self, found: Sequence[Kept]) -> None:
        self.rows = nsmallest(self.top, (*self.rows, *found), key=_by_key)


def _by_key(kept: Kept) -> tuple[float, float, int]:
    return (kept.key, kept.memory, kept.number)


@dataclass
class Front:
    """The Pareto front of step time and memory, fastest first."""

    rows: list[Kept] = field(default_factory=list)

    def add(self, found: Sequence[Kept]) -> None:
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


def selected(memories: Numbers, times: Numbers, most: float) -> Sequence[int]:
    """The indices of the rows with a time whose memory is at most ``most`` bytes."""
    if hasattr(memories, "__array_namespace__"):
        import numpy

        inside = (numpy.asarray(memories) <= most) & (numpy.asarray(times) < numpy.inf)
        return numpy.flatnonzero(inside)  # type: ignore[return-value]
    return [at for at, (held, time) in enumerate(zip(memories, times, strict=True)) if held <= most and time < inf]
