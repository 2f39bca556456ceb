"""One line of memory: a formula, its inputs, and the resulting bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clusterspec.cost.memory.constants import FACTOR_RANGES, RANGES
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

    @property
    def ends(self) -> tuple[float, float]:
        """The factors from the value to the ends of its range: those of the kind of size, else its own."""
        for name, _ in self.factors:
            if name in FACTOR_RANGES:
                return FACTOR_RANGES[name].low, FACTOR_RANGES[name].high
        usual = RANGES.get(self.name.removeprefix("window "))
        return (self.low, self.high) if usual is None else (usual.low, usual.high)


Lines = tuple[MemoryLine, ...]


def line(name: str, formula: Callable[..., float], source: str = "", **numbers: float) -> MemoryLine:
    """A line with its value computed."""
    return MemoryLine(name, formula(**numbers), formula, numbers, source=source)


def added(lines: Iterable[MemoryLine]) -> float:
    """The sum of the bytes of some lines."""
    return sum_of((each.value for each in lines), 0.0)


def squared_excess(lines: Iterable[MemoryLine]) -> float:
    """The sum of the squares of the bytes from the value of each line to the high end of its range."""
    highs = ((each.value, each.ends[1]) for each in lines)
    return sum_of(((value * (high - 1)) ** 2 for value, high in highs if not _is_one(high)), 0.0)


def _is_one(factor: float) -> bool:
    """Whether a factor is the number 1, not a column."""
    return isinstance(factor, float | int) and factor == 1
