"""Stacked bars: the step with overlapped communication, memory against capacity, cost by year."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LinearAxis, horizontal, vertical
from clusterspec.summation import sum_of

GAP = 1.0
"""Width of the line that separates neighbors."""


@dataclass(frozen=True, slots=True)
class StackPart:
    """A part of a stack: name, cause, value, and value as text."""

    label: str
    tint: str
    value: float
    value_text: str


Label = Callable[[float], str]


def lane(parts: Sequence[StackPart], axis: LinearAxis, y: float, height: float) -> list[str]:
    """Consecutive parts from the low end of an axis."""
    shapes, at = [], axis.low
    for part in parts:
        x, end = axis(at), axis(at + part.value)
        shapes.append(
            svg.box(x, y, max(end - x - GAP, 0.4), height, part.tint, title=f"{part.label}: {part.value_text}")
        )
        at += part.value
    return shapes


def legend(parts: Sequence[StackPart], top: float) -> tuple[list[str], float]:
    """A legend with color, name and value of each part in two columns. Returns the shapes and their lower end."""
    shapes: list[str] = []
    rows = -(-len(parts) // 2)
    for number, part in enumerate(parts):
        column, row = divmod(number, rows)
        x, y = column * svg.WIDTH / 2, top + 21 * row
        shapes.append(svg.box(x, y - 10, 12, 12, part.tint))
        shapes.append(svg.text(x + 17, y, part.label, size=12))
        shapes.append(svg.text(x + svg.WIDTH / 2 - 12, y, part.value_text, size=12, end="end", bold=True))
    return shapes, top + 21 * rows


STEP = "one step of the slowest pipeline stage"


def timeline(
    work: Sequence[StackPart], hidden: Sequence[StackPart], label: Label, alt: str, *, title: str = STEP
) -> str:
    """The timeline of a step: consecutive parts above, overlapped communication below."""
    total = sum_of(part.value for part in work)
    under = sum_of(part.value for part in hidden)
    axis = LinearAxis(0.0, max(total, under) or 1.0, 0, svg.WIDTH - 2)
    top, tall = 20.0, 34.0
    parts = [svg.text(0, top - 6, title, size=12, tint="soft")]
    parts += lane(work, axis, top, tall)
    bottom = top + tall + 4
    if hidden:
        parts.append(svg.text(0, bottom + 15, "hidden beneath it", size=12, tint="soft"))
        parts += lane(hidden, axis, bottom + 20, 14)
        bottom += 38
    parts += horizontal(axis, bottom, bottom + 5, label)
    shown, end = legend(work, bottom + 44)
    parts += shown
    if hidden:
        parts.append(svg.text(0, end + 4, "Hidden:", size=12, tint="soft"))
        more, end = legend(hidden, end + 24)
        parts += more
    return svg.drawing(end, parts, alt, name="timeline")


def against_capacity(
    slices: Sequence[StackPart], capacity: float | None, span: tuple[float, float] | None, label: Label, alt: str
) -> str:
    """A stack against a capacity; ``span`` is the range of its end."""
    total = sum_of(part.value for part in slices)
    reach = max([total, capacity or 0.0, span[1] if span else 0.0]) or 1.0
    axis = LinearAxis(0.0, reach, 0, svg.WIDTH - 4)
    top, tall = 24.0, 36.0
    parts = [svg.box(0, top, axis(capacity or total), tall, "wash"), *lane(slices, axis, top, tall)]
    if span and span[1] > span[0]:
        y = top + tall + 8
        parts.append(svg.line(axis(span[0]), y, axis(span[1]), y, "ink", width=2))
        parts += [svg.line(axis(end), y - 4, axis(end), y + 4, "ink", width=2) for end in span]
        parts.append(svg.text(max(axis(span[0]) - 6, 40), y + 4, "range", size=11, tint="soft", end="end"))
    if capacity is not None:
        x = axis(capacity)
        parts.append(svg.line(x, top - 6, x, top + tall + 6, "limit", width=3))
        place = (x - 4, "end") if x > 140 else (x + 4, "start")
        said_limit = f"capacity {label(capacity)}"
        parts.append(svg.text(place[0], top - 9, said_limit, size=12, tint="limit", end=place[1], bold=True))
    bottom = top + tall + 18
    parts += horizontal(axis, bottom, bottom + 5, label)
    shown, end = legend(slices, bottom + 44)
    return svg.drawing(end, parts + shown, alt, name="memory")


def by_stage(stages: Sequence[tuple[str, Sequence[StackPart]]], capacity: float | None, label: Label, alt: str) -> str:
    """One stack per pipeline stage against the capacity of an accelerator."""
    totals = [sum_of(part.value for part in parts) for _, parts in stages]
    axis = LinearAxis(0.0, max([*totals, capacity or 0.0]) or 1.0, 64, svg.WIDTH - 4)
    step, top = 20.0, 22.0
    bottom = top + step * len(stages)
    shapes = horizontal(axis, top, bottom, label)
    for number, (name, parts) in enumerate(stages):
        y = top + step * number
        shapes.append(svg.text(56, y + 13, name, size=12, end="end"))
        shapes += lane(parts, axis, y + 2, step - 5)
    if capacity is not None:
        x = axis(capacity)
        place = (x - 4, "end") if x > 160 else (x + 4, "start")
        shapes.append(svg.line(x, top - 4, x, bottom, "limit", width=3))
        shapes.append(svg.text(place[0], top - 8, f"capacity {label(capacity)}", size=12, tint="limit", end=place[1]))
    return svg.drawing(bottom + 20, shapes, alt, name="stages")


@dataclass(frozen=True, slots=True)
class Year:
    """A column of a chart by year; ``low`` and ``high`` are the range of its sum."""

    label: str
    parts: tuple[StackPart, ...]
    low: float
    high: float


def years(columns: Sequence[Year], label: Label, alt: str) -> str:
    """Stacked columns by year, each with the range of its sum."""
    most = max([*(column.high for column in columns), *(sum_of(p.value for p in c.parts) for c in columns)]) or 1.0
    left, top, tall = 92.0, 14.0, 190.0
    axis = LinearAxis(0.0, most, top + tall, top)
    shapes = vertical(axis, left, svg.WIDTH, label)
    wide = (svg.WIDTH - left) / len(columns)
    for number, column in enumerate(columns):
        x, at = left + wide * number + wide * 0.2, 0.0
        for part in column.parts:
            y, end = axis(at), axis(at + part.value)
            shapes.append(
                svg.box(x, end, wide * 0.6, y - end - GAP, part.tint, title=f"{part.label}: {part.value_text}")
            )
            at += part.value
        if column.high > column.low:
            middle = x + wide * 0.3
            shapes.append(svg.line(middle, axis(column.low), middle, axis(column.high), "ink", width=2))
        shapes.append(svg.text(x + wide * 0.3, top + tall + 17, column.label, size=12, end="middle"))
    sums: dict[str, StackPart] = {}
    for part in (part for column in columns for part in column.parts):
        before = sums[part.label].value if part.label in sums else 0.0
        sums[part.label] = StackPart(part.label, part.tint, before + part.value, label(before + part.value))
    shown, end = legend(list(sums.values()), top + tall + 44)
    return svg.drawing(end, shapes + shown, alt, name="years")
