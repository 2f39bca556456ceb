"""One line of memory: a formula, its inputs, and the resulting bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of


class MemoryLine(NamedTuple):
    """``value`` bytes = the product of ``factors`` × ``formula`` of ``numbers``.

    ``low`` and ``high`` are the factors from the value to the ends of its range; the numbers may be columns.
    """

    name: str
    value: float
    formula: Callable[..., float]
    numbers: dict[str, float]
    factors: tuple[tuple[str, float], ...] = ()
    source: str = ""
    low: float = 1.0
    high: float = 1.0

    def times(self, name: str, factor: float) -> MemoryLine:
        """The line with one more factor."""
        return self._replace(value=self.value * factor, factors=((name, factor), *self.factors))


Lines = tuple[MemoryLine, ...]


def line(name: str, formula: Callable[..., float], source: str = "", **numbers: float) -> MemoryLine:
    """A line with its value computed."""
    return MemoryLine(name, formula(**numbers), formula, numbers, source=source)


def added(lines: Iterable[MemoryLine]) -> float:
    """The sum of the bytes of some lines."""
    return sum_of((each.value for each in lines), 0.0)
