"""Charts of areas: stacked bars, grids over tp and pp or axis and tier, and the diagram of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.records import dataclass, replace
from clusterspec.report.charts import svg
from clusterspec.report.charts.svg import HEAT, LinearAxis, horizontal_grid, vertical_grid
from clusterspec.standard import sum_of
from clusterspec.units import display

# Stacked bars: the step with overlapped communication, memory against capacity, cost by year

GAP = 1.0
"""Width of the line that separates neighbors."""


@dataclass(frozen=True)
class StackPart:
    """A part of a stack: name, cause, value, and value as text."""

    label: str
    tint: str
    value: float
    value_text: str


Label = Callable[[float], str]


def lane_shapes(parts: Sequence[StackPart], axis: LinearAxis, y: float, height: float) -> list[str]:
    """Consecutive parts from the low end of an axis."""
    shapes, at = [], axis.low
    for part in parts:
        x, end = axis(at), axis(at + part.value)
        shapes.append(
            svg.box(x, y, max(end - x - GAP, 0.4), height, part.tint, title=f"{part.label}: {part.value_text}")
        )
        at += part.value
    return shapes


@dataclass(frozen=True)
class FallBar:
    """A loss in a waterfall: its share of the whole, and its text."""

    label: str
    tint: str
    share: float
    value_text: str


def waterfall_chart(losses: Sequence[FallBar], left: FallBar, alt: str, *, start: str) -> str:
    """Losses from the whole (``start``, 100 %) to what is ``left``, one row each; each bar begins where the previous
    one ends.

    Shares of ``losses`` and ``left`` sum to about 1; a negative loss goes back up.
    """
    axis = LinearAxis(0.0, 1.0, svg.WIDTH * 0.52, svg.WIDTH - 50)
    tall, pitch, top = 15.0, 22.0, 6.0
    rows = [FallBar(start, "bubble", 1.0, "100 %"), *losses, left]
    parts: list[str] = []
    at = 1.0
    for number, row in enumerate(rows):
        y = top + pitch * number
        whole = row is rows[0] or row is left
        first, last = (0.0, row.share) if whole else sorted((at, at - row.share))
        at = at if whole else at - row.share
        low, high = axis(max(0.0, first)), axis(min(1.0, last))
        parts.append(svg.text_shape(axis.start - 10, y + 12, row.label, size=12, end="end", bold=whole))
        parts.append(svg.box(low, y, max(high - low, 1.0), tall, row.tint, title=f"{row.label}: {row.value_text}"))
        parts.append(svg.text_shape(high + 6, y + 12, row.value_text, size=12, bold=whole))
        if row is not left:
            parts.append(svg.segment(axis(max(0.0, at)), y + tall, axis(max(0.0, at)), y + pitch, "line"))
    return svg.drawing(top + pitch * len(rows) + 2, parts, alt, name="waterfall")


def legend_shapes(parts: Sequence[StackPart], top: float) -> tuple[list[str], float]:
    """A legend with color, name and value of each part: in two columns, or in one where a name is too long for that.
    Returns the shapes and their lower end.
    """
    shapes: list[str] = []
    wide = svg.WIDTH / 2 - 12
    end = max([wide, *(36 + _entry_width(part) for part in parts)])
    rows = len(parts) if end > wide else -(-len(parts) // 2)
    for number, part in enumerate(parts):
        column, row = divmod(number, rows)
        x, y = column * svg.WIDTH / 2, top + 21 * row
        shapes.append(svg.box(x, y - 10, 12, 12, part.tint))
        shapes.append(svg.text_shape(x + 17, y, part.label, size=12))
        shapes.append(svg.text_shape(x + end, y, part.value_text, size=12, end="end", bold=True))
    return shapes, top + 21 * rows


def _entry_width(part: StackPart) -> float:
    """The width of the name and the value of a part in a legend."""
    return svg.text_width(part.label, 12) + svg.text_width(part.value_text, 12, bold=True)


STEP = "one step of the slowest pipeline stage"


def timeline_chart(
    work: Sequence[StackPart], hidden: Sequence[StackPart], label: Label, alt: str, *, title: str = STEP
) -> str:
    """The timeline of a step: consecutive parts above, overlapped communication below."""
    total = sum_of(part.value for part in work)
    under = sum_of(part.value for part in hidden)
    axis = LinearAxis(0.0, max(total, under) or 1.0, 0, svg.WIDTH - 2)
    top, tall = 20.0, 34.0
    parts = [svg.text_shape(0, top - 6, title, size=12, tint="soft")]
    parts += lane_shapes(work, axis, top, tall)
    bottom = top + tall + 4
    if hidden:
        parts.append(svg.text_shape(0, bottom + 15, "overlapped", size=12, tint="soft"))
        parts += lane_shapes(hidden, axis, bottom + 20, 14)
        bottom += 38
    parts += horizontal_grid(axis, bottom, bottom + 5, label)
    shown, end = legend_shapes(work, bottom + 44)
    parts += shown
    if hidden:
        parts.append(svg.text_shape(0, end + 4, "Hidden:", size=12, tint="soft"))
        more, end = legend_shapes(hidden, end + 24)
        parts += more
    return svg.drawing(end, parts, alt, name="timeline")


def capacity_chart(
    slices: Sequence[StackPart], capacity: float | None, span: tuple[float, float] | None, label: Label, alt: str
) -> str:
    """A stacked bar next to its capacity; ``span`` is the predicted range of the total, in the unit of the parts."""
    total = sum_of(part.value for part in slices)
    reach = max([total, capacity or 0.0, span[1] if span else 0.0]) or 1.0
    axis = LinearAxis(0.0, reach, 0, svg.WIDTH - 4)
    top, tall = 24.0, 36.0
    parts = [svg.box(0, top, axis(capacity or total), tall, "wash"), *lane_shapes(slices, axis, top, tall)]
    if span and span[1] > span[0]:
        y = top + tall + 8
        parts.append(svg.segment(axis(span[0]), y, axis(span[1]), y, "ink", width=2))
        parts += [svg.segment(axis(end), y - 4, axis(end), y + 4, "ink", width=2) for end in span]
        parts.append(svg.text_shape(max(axis(span[0]) - 6, 40), y + 4, "range", size=11, tint="soft", end="end"))
    if capacity is not None:
        x = axis(capacity)
        parts.append(svg.segment(x, top - 6, x, top + tall + 6, "limit", width=3))
        place = (x - 4, "end") if x > 140 else (x + 4, "start")
        said_limit = f"capacity {label(capacity)}"
        parts.append(svg.text_shape(place[0], top - 9, said_limit, size=12, tint="limit", end=place[1], bold=True))
    bottom = top + tall + 18
    parts += horizontal_grid(axis, bottom, bottom + 5, label)
    shown, end = legend_shapes(slices, bottom + 44)
    return svg.drawing(end, parts + shown, alt, name="memory")


def time_axis(most: float) -> tuple[float, Label]:
    """The seconds of the unit in which an axis up to ``most`` seconds has round ticks, and its labels.

    >>> seconds, label = time_axis(1100.0)
    >>> seconds, label(5.0)
    (60.0, '5 min')
    """
    units = ((2 * 86400.0, 86400.0, "days"), (7200.0, 3600.0, "h"), (120.0, 60.0, "min"))
    seconds, name = next(((each, name) for least, each, name in units if most >= least), (1.0, "s"))
    one = name.removesuffix("s") if name == "days" else name
    return seconds, lambda tick: f"{tick:g} {one if tick == 1 else name}" if seconds > 1 else display(tick, "s")


@dataclass(frozen=True)
class StackRow:
    """A labeled stack from left to right."""

    label: str
    parts: tuple[StackPart, ...]


def rows_text(rows: Sequence[StackRow]) -> str:
    """The rows with their parts as text, for readers who do not see the chart."""
    return "; ".join(
        f"{row.label}: {', '.join(f'{part.label} {part.value_text}' for part in row.parts)}" for row in rows
    )


def stack_rows_chart(
    rows: Sequence[StackRow], label: Label, alt: str, *, name: str, capacity: float | None = None, legend: bool = True
) -> str:
    """One stacked bar per row on a common axis, with the capacity marked if there is one; the legend names each kind of
    part once.
    """
    most = max([capacity or 0.0, *(sum_of(part.value for part in row.parts) for row in rows)]) or 1.0
    left = 8 + max(svg.text_width(row.label, 12) for row in rows)
    axis = LinearAxis(0.0, most, left, svg.WIDTH - 4)
    step, top = 20.0, 22.0 if capacity is not None else 4.0
    bottom = top + step * len(rows)
    shapes = horizontal_grid(axis, top, bottom, label)
    for number, row in enumerate(rows):
        y = top + step * number
        shapes.append(svg.text_shape(left - 8, y + 13, row.label, size=12, end="end"))
        shapes += lane_shapes(row.parts, axis, y + 2, step - 5)
    if capacity is not None:
        x = axis(capacity)
        place = (x - 4, "end") if x > 160 else (x + 4, "start")
        shapes.append(svg.segment(x, top - 4, x, bottom, "limit", width=3))
        shapes.append(
            svg.text_shape(place[0], top - 8, f"capacity {label(capacity)}", size=12, tint="limit", end=place[1])
        )
    end = bottom + 20
    if legend:
        kinds = {part.label: StackPart(part.label, part.tint, 0.0, "") for row in rows for part in row.parts}
        shown, end = legend_shapes(tuple(kinds.values()), bottom + 40)
        shapes += shown
    return svg.drawing(end, shapes, alt, name=name)


def timed_rows_chart(rows: Sequence[StackRow], alt: str, *, name: str, legend: bool = True) -> str:
    """One stack of seconds per row."""
    seconds, label = time_axis(max(sum_of(part.value for part in row.parts) for row in rows))
    scaled = [
        StackRow(row.label, tuple(replace(part, value=part.value / seconds) for part in row.parts)) for row in rows
    ]
    return stack_rows_chart(scaled, label, alt, name=name, legend=legend)


@dataclass(frozen=True)
class Year:
    """A column of a chart by year; ``low`` and ``high`` are the range of its sum."""

    label: str
    parts: tuple[StackPart, ...]
    low: float
    high: float


def yearly_chart(columns: Sequence[Year], label: Label, alt: str) -> str:
    """Stacked columns by year, each with the range of its sum."""
    most = max([*(column.high for column in columns), *(sum_of(p.value for p in c.parts) for c in columns)]) or 1.0
    left, top, tall = 92.0, 14.0, 150.0
    axis = LinearAxis(0.0, most, top + tall, top)
    shapes = vertical_grid(axis, left, svg.WIDTH, label)
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
            shapes.append(svg.segment(middle, axis(column.low), middle, axis(column.high), "ink", width=2))
        shapes.append(svg.text_shape(x + wide * 0.3, top + tall + 17, column.label, size=12, end="middle"))
        if svg.text_width(text := label(at), 11) < wide:
            over = axis(max(at, column.high)) - 5
            shapes.append(svg.text_shape(x + wide * 0.3, over, text, size=11, end="middle"))
    sums: dict[str, StackPart] = {}
    for part in (part for column in columns for part in column.parts):
        before = sums[part.label].value if part.label in sums else 0.0
        sums[part.label] = StackPart(part.label, part.tint, before + part.value, label(before + part.value))
    shown, end = legend_shapes(list(sums.values()), top + tall + 44)
    return svg.drawing(end, shapes + shown, alt, name="years")


# Grid charts: step time over tp and pp, and bytes by axis and tier

WHITE = "#ffffff"
DARK = "#1c2733"


@dataclass(frozen=True)
class HeatCell:
    """One cell: ``level`` from 0 (best) to 1, None if the layout is not legal; ``value_text`` is its value."""

    level: float | None
    value_text: str
    hatched: bool = False
    marked: bool = False
    title: str = ""


def heatmap_chart(columns: Sequence[int], rows: Sequence[int], cells: Sequence[HeatCell], alt: str) -> str:
    """Cells row by row over ``columns`` (pp) and ``rows`` (tp)."""
    left, top, tall = 54.0, 46.0, 32.0
    wide = (svg.WIDTH - left - 2) / len(columns)
    parts = [svg.text_shape(left, 16, "pipeline stages (pp)", size=12, tint="soft")]
    parts += [
        svg.text_shape(left + wide * (number + 0.5) - 1, 36, f"{pp}", size=12, end="middle", bold=True)
        for number, pp in enumerate(columns)
    ]
    parts.append(svg.text_shape(0, 36, "tp", size=12, tint="soft"))
    marked = ""
    for number, cell in enumerate(cells):
        row, column = divmod(number, len(columns))
        x, y = left + wide * column, top + tall * row
        if column == 0:
            parts.append(svg.text_shape(left - 10, y + tall / 2 + 3, f"{rows[row]}", size=12, end="end", bold=True))
        parts += _cell_shapes(cell, x, y, wide - 2, tall - 2)
        marked = svg.frame(x, y, wide - 2, tall - 2, "limit", stroke=3) if cell.marked else marked
    bottom = top + tall * len(rows)
    return svg.drawing(bottom + 52, [*parts, marked, *_key_shapes(bottom + 18)], alt, name="layouts")


def _cell_shapes(cell: HeatCell, x: float, y: float, wide: float, tall: float) -> list[str]:
    if cell.level is None:
        return [svg.box(x, y, wide, tall, "wash", title=cell.title)]
    step = min(len(HEAT) - 1, int(cell.level * len(HEAT)))
    shapes = [svg.box(x, y, wide, tall, HEAT[step], title=cell.title)]
    if cell.hatched:
        shapes.append(svg.hatch(x, y, wide, tall, WHITE if step > 2 else DARK))
        plate = svg.text_width(cell.value_text, 12) + 8
        shapes.append(svg.box(x + (wide - plate) / 2, y + tall / 2 - 9, plate, 18, HEAT[step]))
    tint = WHITE if step > 2 else DARK
    shapes.append(svg.text_shape(x + wide / 2, y + tall / 2 + 4, cell.value_text, size=12, tint=tint, end="middle"))
    return shapes


def _key_shapes(top: float) -> list[str]:
    """The legend of colors and marks, in two lines."""
    parts = [svg.text_shape(0, top + 2, "step time: fast", size=12)]
    parts += [svg.box(92 + 18 * number, top - 9, 17, 13, tint) for number, tint in enumerate(HEAT)]
    parts.append(svg.text_shape(188, top + 2, "slow", size=12))
    parts += [svg.box(236, top - 9, 17, 13, HEAT[1]), svg.hatch(236, top - 9, 17, 13, DARK, step=5)]
    parts.append(svg.text_shape(259, top + 2, "does not fit", size=12))
    low = top + 24
    parts += [svg.frame(1, low - 9, 17, 13, "limit", stroke=3), svg.text_shape(24, low + 2, "this layout", size=12)]
    parts += [
        svg.box(110, low - 9, 17, 13, "wash"),
        svg.text_shape(133, low + 2, "not legal, or no step time", size=12),
    ]
    return parts


@dataclass(frozen=True)
class SentBytes:
    """The bytes of an axis on a tier in a step, and the fraction of the step in which they occupy the link."""

    value_text: str
    busy: float
    busy_text: str


def traffic_matrix(axes: Sequence[str], tiers: Sequence[str], cells: dict[tuple[str, str], SentBytes], alt: str) -> str:
    """Bytes by axis and tier; the bar in a cell is the busy time of the link as a fraction of the step."""
    left, top, tall = 70.0, 30.0, 44.0
    wide = (svg.WIDTH - left) / max(1, len(tiers))
    parts = [
        svg.text_shape(left + wide * number + 6, 18, tier, size=13, bold=True) for number, tier in enumerate(tiers)
    ]
    for row, axis in enumerate(axes):
        y = top + tall * row
        parts += [svg.segment(0, y - 2, svg.WIDTH, y - 2), svg.text_shape(0, y + 17, axis, bold=True)]
        for column, tier in enumerate(tiers):
            cell = cells.get((axis, tier))
            if cell is None:
                continue
            x = left + wide * column + 6
            parts.append(svg.text_shape(x, y + 17, cell.value_text))
            parts.append(svg.text_shape(x + wide - 16, y + 17, cell.busy_text, end="end", tint="soft", size=12))
            parts.append(svg.box(x, y + 25, wide - 16, 8, "wash"))
            parts.append(svg.box(x, y + 25, (wide - 16) * min(1.0, cell.busy), 8, _axis_tint(axis)))
    return svg.drawing(top + tall * len(axes) + 2, parts, alt, name="bytes")


def _axis_tint(axis: str) -> str:
    from clusterspec.report.charts.svg import cause_of

    return cause_of(axis)
