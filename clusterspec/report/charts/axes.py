"""Axes: conversion of values to coordinates, with labeled ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis from ``low`` to ``high``, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Whole decades around the values; at least one."""
        found = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
        low = 10.0 ** math.floor(math.log10(min(found)) + 1e-9)
        high = 10.0 ** math.ceil(math.log10(max(found)) - 1e-9)
        return cls(low, max(high, 10 * low), start, end)

    def __call__(self, value: float) -> float:
        share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        return self.start + (self.end - self.start) * min(1.0, share)

    @property
    def ticks(self) -> list[float]:
        decades = round(math.log10(self.high / self.low))
        step = max(1, math.ceil(decades / 6))
        return [self.low * 10.0**power for power in range(0, decades + 1, step)]


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """A linear axis from ``low`` to ``high``, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> list[float]:
        """About five round values."""
        span = (self.high - self.low) or 1.0
        raw = span / 4
        base = 10.0 ** math.floor(math.log10(raw))
        step = next(base * factor for factor in (1, 2, 2.5, 5, 10) if base * factor >= raw * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9) * step
        count = int((self.high - first) / step + 1e-9) + 1
        return [first + step * number for number in range(count)]


Axis = LogAxis | LinearAxis


def horizontal(
    axis: Axis,
    top: float,
    bottom: float,
    label: Callable[[float], str],
    lanes: Sequence[tuple[float, float]] = (),
) -> list[str]:
    """Grid lines at the ticks of a horizontal axis, labeled below; only inside ``lanes`` where text is between them."""
    parts = []
    for number, tick in enumerate(ticks := axis.ticks):
        x = axis(tick)
        end = "start" if number == 0 else "end" if number == len(ticks) - 1 and x > svg.WIDTH - 30 else "middle"
        parts += [svg.line(x, high, x, low) for high, low in lanes or ((top, bottom),)]
        parts.append(svg.text(x, bottom + 15, label(tick), size=11, tint="soft", end=end))
    return parts


def vertical(axis: Axis, left: float, right: float, label: Callable[[float], str]) -> list[str]:
    """Grid lines at the ticks of a vertical axis, labeled at the left."""
    parts = []
    for tick in axis.ticks:
        y = axis(tick)
        parts.append(svg.line(left, y, right, y))
        parts.append(svg.text(left - 6, y + 4, label(tick), size=11, tint="soft", end="end"))
    return parts
