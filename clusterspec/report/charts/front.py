"""The Pareto front of serving plans: output tokens per second per user and per accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LogAxis


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One plan: tokens per second per user and per accelerator, its engines, and its requests in flight."""

    per_user: float
    per_accelerator: float
    label: str
    note: str


TOP, BOTTOM = 34.0, 254.0
MARGIN = 1.25
"""Space of an axis beyond its outermost points, as a factor."""


def front(points: Sequence[FrontPoint], present: FrontPoint | None, alt: str) -> str:
    """The plans by number, joined in order, and the plan of the spec as a diamond."""
    shown = [*points, *([present] if present else [])]
    x = _axis([point.per_user for point in shown], 52, svg.WIDTH - 14)
    y = _axis([point.per_accelerator for point in shown], BOTTOM, TOP)
    parts = [svg.text(0, TOP - 20, "output tokens per second of an accelerator", size=12, tint="soft")]
    for tick in _ticks(y):
        parts.append(svg.line(x.start, y(tick), x.end, y(tick)))
        parts.append(svg.text(x.start - 6, y(tick) + 4, _count(tick), size=11, tint="soft", end="end"))
    for tick in _ticks(x):
        parts.append(svg.line(x(tick), TOP, x(tick), BOTTOM))
        parts.append(svg.text(x(tick), BOTTOM + 15, _count(tick), size=11, tint="soft", end="middle"))
    parts.append(svg.text(x.end, BOTTOM + 32, "output tokens per second of a user", size=12, tint="soft", end="end"))
    parts.append(svg.curve([(x(point.per_user), y(point.per_accelerator)) for point in points], "forward"))
    for number, point in enumerate(points, 1):
        spot = x(point.per_user), y(point.per_accelerator)
        parts.append(svg.dot(*spot, "forward", radius=8))
        parts.append(svg.text(spot[0], spot[1] + 4, str(number), size=10, tint="paper", end="middle"))
    if present:
        parts.append(svg.diamond(x(present.per_user), y(present.per_accelerator), "limit", radius=7))
    names, end = _names(points, present, BOTTOM + 58)
    return svg.drawing(end, parts + names, alt, name="front")


def _axis(values: Sequence[float], start: float, end: float) -> LogAxis:
    """A logarithmic axis around the values."""
    return LogAxis(min(values) / MARGIN, max(values) * MARGIN, start, end)


def _ticks(axis: LogAxis) -> list[float]:
    """The values 1, 2 and 5 of every decade of an axis."""
    decades = range(floor(log10(axis.low)), ceil(log10(axis.high)) + 1)
    found = [factor * 10.0**power for power in decades for factor in (1, 2, 5)]
    return [tick for tick in found if axis.low <= tick <= axis.high]


def _count(tick: float) -> str:
    return f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"


def _names(points: Sequence[FrontPoint], present: FrontPoint | None, top: float) -> tuple[list[str], float]:
    """The plans by number, with their requests in flight."""
    shapes: list[str] = []
    rows = [(str(number), point) for number, point in enumerate(points, 1)]
    for row, (number, point) in enumerate(rows):
        y = top + 20 * row
        shapes.append(svg.text(0, y, number, size=12, bold=True))
        shapes.append(svg.text(22, y, point.label, size=12))
        shapes.append(svg.text(svg.WIDTH - 2, y, point.note, size=12, end="end", tint="soft"))
    end = top + 20 * len(rows)
    if present:
        shapes.append(svg.diamond(6, end - 4, "limit"))
        shapes.append(svg.text(22, end, "this design", size=12, bold=True))
        shapes.append(svg.text(svg.WIDTH - 2, end, present.note, size=12, end="end", tint="soft"))
        end += 20
    return shapes, end - 8
