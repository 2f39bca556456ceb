"""Charts of links: bandwidth by tier, along a path and over the size of messages, and time of communication."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import cos, log, pi, sqrt

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.svg import LinearAxis, LogAxis, horizontal_grid, vertical_grid
from clusterspec.standard import sum_of
from clusterspec.units import display

# Dots on a logarithmic axis: bandwidth per accelerator by tier, and communication time


@dataclass(frozen=True)
class DotRow:
    """A row: line rate, predicted and measured bandwidth in B/s; None if unknown."""

    label: str
    tint: str
    line_rate: float
    predicted: float | None
    measured: float | None
    note: str = ""


STEP = 36.0
TOP = 34.0
"""The distance of two rows, and the first one."""


def dot_chart(rows: Sequence[DotRow], alt: str) -> str:
    """One row per tier: hollow circle for the line rate, filled circle for predicted, diamond for measured."""
    values = [value for row in rows for value in (row.line_rate, row.predicted, row.measured) if value]
    axis = LogAxis.axis_of_decades(values, 8, svg.WIDTH - 16)
    bottom = TOP + STEP * len(rows)
    parts = [
        *_dot_legend(),
        *horizontal_grid(axis, TOP - 6, bottom, lambda tick: display(tick, "B/s"), _dot_lanes(len(rows))),
    ]
    for number, row in enumerate(rows):
        y = TOP + STEP * number + 28
        parts.append(svg.text_shape(8, y - 14, svg.fitted_label(row.label, row.note), bold=True))
        parts.append(svg.text_shape(svg.WIDTH - 8, y - 14, row.note, size=12, tint="soft", end="end"))
        parts.append(svg.segment(axis.start, y, axis(row.line_rate), y, row.tint, width=2))
        parts.append(svg.dot(axis(row.line_rate), y, row.tint, radius=6, hollow=True))
        if row.predicted:
            parts.append(svg.dot(axis(row.predicted), y, row.tint, radius=5))
        if row.measured:
            parts.append(svg.diamond(axis(row.measured), y, "limit"))
    return svg.drawing(bottom + 24, parts, alt, name="bandwidth")


def _dot_lanes(count: int) -> list[tuple[float, float]]:
    """The space of the dots of each row, below its label."""
    return [(TOP + STEP * number + 18, TOP + STEP * number + 35) for number in range(count)]


def _dot_legend() -> list[str]:
    return [
        svg.dot(14, 10, "ink", radius=6, hollow=True),
        svg.text_shape(26, 14, "line rate", size=12),
        svg.dot(104, 10, "ink", radius=5),
        svg.text_shape(116, 14, "predicted", size=12),
        svg.diamond(198, 10, "limit"),
        svg.text_shape(210, 14, "measured", size=12),
    ]


@dataclass(frozen=True)
class WireRow:
    """The communication time of one kind of parallelism and the computation time, in seconds; ``note`` is a further
    statement of the estimate, ``fits`` says whether the layout fits in memory.
    """

    label: str
    tint: str
    wire: float
    compute: float
    note: str = ""
    fits: bool = True


def wire_chart(rows: Sequence[WireRow], alt: str) -> str:
    """One row per kind of parallelism: a dot for communication time, a line for the computation that overlaps it.

    A layout that does not fit in memory is hatched.
    """
    axis = LogAxis.axis_of_decades([value for row in rows for value in (row.wire, row.compute)], 8, svg.WIDTH - 16)
    bottom = TOP + STEP * len(rows)
    parts = [
        svg.dot(14, 10, "ink"),
        svg.text_shape(26, 14, "on the wire", size=12),
        svg.segment(110, 3, 110, 18, "limit", width=3),
        svg.text_shape(118, 14, "computation of the step", size=12),
        *horizontal_grid(axis, TOP - 6, bottom, lambda tick: display(tick, "s"), _dot_lanes(len(rows))),
    ]
    for number, row in enumerate(rows):
        y = TOP + STEP * number + 28
        note = row.note or f"{display(row.wire, 's')} on the wire"
        parts.append(svg.text_shape(8, y - 14, row.label, bold=True))
        tint = "soft" if row.fits else "bad"
        parts.append(svg.text_shape(svg.WIDTH - 8, y - 14, note, size=12, tint=tint, end="end"))
        if not row.fits:
            parts.append(svg.hatch(axis.start, y - 6, axis(row.wire) - axis.start, 12, row.tint, step=6))
        parts.append(svg.segment(axis.start, y, axis(row.wire), y, row.tint, width=2))
        parts.append(svg.dot(axis(row.wire), y, row.tint, radius=6, hollow=not row.fits))
        parts.append(svg.segment(axis(row.compute), y - 7, axis(row.compute), y + 7, "limit", width=3))
    return svg.drawing(bottom + 24, parts, alt, name="survival")


# Bandwidth as an isometric stack of plates of one thickness, whose areas and volumes are to scale


@dataclass(frozen=True)
class AreaPlate:
    """A value drawn as the area of a square plate, with a note on it."""

    label: str
    value: float
    value_text: str
    tint: str
    note: str = ""


THICK = 9.0
"""The height of every plate, so that volumes are to scale like areas."""
SIDE = 100.0
"""The side of the largest plate."""
MIDDLE = 104.0
"""The axis of the stack."""
LABELS = 200.0
"""The left edge of the labels."""
PLATE_PITCH = 50.0
BLACK = "#000000"
ACROSS, DOWN = cos(pi / 6), 0.5
"""The horizontal and vertical length on the page of a unit along an edge of a plate."""


def pyramid_chart(plates: Sequence[AreaPlate], alt: str) -> str:
    """Plates with the largest at the bottom, each on the axis of the stack; labels stand at the right, on a line from
    the right corner of their plate.
    """
    ranked = sorted(plates, key=lambda plate: plate.value)
    sides = [SIDE * sqrt(plate.value / ranked[-1].value) for plate in ranked]
    top = max(16.0, *(DOWN * side - PLATE_PITCH * number + 4 for number, side in enumerate(sides)))
    base = top + PLATE_PITCH * (len(ranked) - 1)
    parts = [svg.segment(MIDDLE, top, MIDDLE, base, "line", dash="2 3")] if len(ranked) > 1 else []
    for number, (plate, side) in reversed(list(enumerate(zip(ranked, sides, strict=True)))):
        parts += _plate_shapes(plate, side, top + PLATE_PITCH * number)
    for number, (plate, side) in enumerate(zip(ranked, sides, strict=True)):
        parts += _label_shapes(plate, side, top + PLATE_PITCH * number)
    return svg.drawing(base + DOWN * SIDE + THICK + 8, parts, alt, name="areas")


def _plate_shapes(plate: AreaPlate, side: float, y: float) -> Iterable[str]:
    """The upper side of a plate around a point, and its two visible edges."""
    x, wide, deep = MIDDLE, max(side, 1.5) * ACROSS, max(side, 1.5) * DOWN
    left, right, front, back = (x - wide, y), (x + wide, y), (x, y + deep), (x, y - deep)
    low = [(at[0], at[1] + THICK) for at in (left, front, right)]
    yield svg.polygon([left, front, low[1], low[0]], plate.tint)
    yield svg.polygon([left, front, low[1], low[0]], BLACK, opacity=0.18)
    yield svg.polygon([front, right, low[2], low[1]], plate.tint)
    yield svg.polygon([front, right, low[2], low[1]], BLACK, opacity=0.36)
    yield svg.polygon([back, right, front, left], plate.tint, title=f"{plate.label}: {plate.value_text}")


def _label_shapes(plate: AreaPlate, side: float, y: float) -> list[str]:
    most = svg.WIDTH - LABELS - 12 - svg.text_width(plate.value_text, 13, bold=True)
    label = plate.label
    if svg.text_width(label, 13) > most:
        label = label.partition(" (")[0]
    return [
        svg.segment(MIDDLE + side * ACROSS + 2, y, LABELS - 6, y, "soft", width=0.8),
        svg.text_shape(LABELS, y + 4.5, svg.fitted_text(label, most, 13)),
        svg.text_shape(svg.WIDTH, y + 4.5, plate.value_text, end="end", bold=True),
        *([svg.text_shape(LABELS, y + 19, plate.note, size=11, tint="soft")] if plate.note else []),
    ]


# A path between two accelerators: a numbered hop in each row, its latency, and the rate of each link


@dataclass(frozen=True)
class DrawnHop:
    """A part on the path: the ``seconds`` that it adds (None if unknown), these as text, the total up to it as text,
    and a remark. ``rate`` is the rate of the link into the part; None for the first part, and if that link has no rate
    of its own.
    """

    label: str
    seconds: float | None
    added: str
    so_far: str
    remark: str = ""
    rate: float | None = None
    rate_text: str = ""
    narrowest: bool = False


PITCH = 46.0
LEFT = 14.0
BARS = 236.0
"""The distance of two hops, the middle of the numbers, and the start of the bars. The first hop is at `TOP`."""


def path_chart(hops: Sequence[DrawnHop], alt: str) -> str:
    """The hops from the top down. A link is drawn wider the higher its rate; the slowest link is marked by color and
    words. Bars show the time since the start, with the time that the hop adds as their dark end.
    """
    whole = sum_of(hop.seconds or 0.0 for hop in hops)
    axis = LinearAxis(0.0, whole or 1.0, BARS, svg.WIDTH - 62)
    parts = [
        svg.text_shape(axis.start, 13, "time since the start", size=11, tint="soft"),
        svg.text_shape(svg.WIDTH, 13, "added", size=11, tint="soft", end="end"),
    ]
    known = [hop.rate for hop in hops if hop.rate]
    at = 0.0
    for number, hop in enumerate(hops):
        y = TOP + PITCH * number
        if number:
            parts += _link_shapes(hop, known, y - PITCH)
        parts += _bar_shapes(hop, axis, at, y)
        at += hop.seconds or 0.0
        most = axis.start - LEFT - 28
        parts.append(svg.text_shape(LEFT + 20, y + 4.5, svg.fitted_text(hop.label, most, 13, bold=True), bold=True))
    for number, _ in enumerate(hops):
        y = TOP + PITCH * number
        parts.append(svg.dot(LEFT, y, "memory", radius=11))
        parts.append(svg.text_shape(LEFT, y + 4, f"{number + 1}", size=11, tint="paper", end="middle", bold=True))
    return svg.drawing(TOP + PITCH * (len(hops) - 1) + 22, parts, alt, name="path")


def _link_shapes(hop: DrawnHop, rates: Sequence[float], top: float) -> list[str]:
    """The link into a hop from the hop at ``top``, with its rate."""
    tint = "limit" if hop.narrowest else "other"
    wide = _link_width(hop.rate, rates)
    parts = [svg.segment(LEFT, top + 11, LEFT, top + PITCH - 11, tint, width=wide, dash="" if hop.rate else "3 3")]
    if hop.rate_text:
        said = f"narrowest: {hop.rate_text}" if hop.narrowest else hop.rate_text
        look = "limit" if hop.narrowest else "soft"
        said = svg.fitted_text(said, BARS - LEFT - 26, 11, bold=hop.narrowest)
        parts.append(svg.text_shape(LEFT + 20, top + PITCH / 2 + 4, said, size=11, tint=look, bold=hop.narrowest))
    return parts


def _link_width(rate: float | None, rates: Sequence[float]) -> float:
    """From 2 for the slowest link of a path to 9 for the fastest, by the logarithm of the rate."""
    if not rate or max(rates) <= min(rates):
        return 4.0 if rate else 1.5
    return 2.0 + 7.0 * log(rate / min(rates)) / log(max(rates) / min(rates))


def _bar_shapes(hop: DrawnHop, axis: LinearAxis, at: float, y: float) -> list[str]:
    """The time up to a hop as a bar, and the time that the hop adds."""
    seconds = hop.seconds or 0.0
    parts = [svg.box(axis.start, y - 6, axis.end - axis.start, 12, "wash")]
    parts.append(svg.box(axis.start, y - 6, axis(at) - axis.start, 12, "backward"))
    parts.append(svg.box(axis(at), y - 6, axis(at + seconds) - axis(at), 12, "forward", title=hop.remark))
    parts.append(svg.text_shape(svg.WIDTH, y + 4.5, hop.added, size=11, end="end", bold=bool(seconds)))
    note = f"{hop.so_far}: {hop.remark}" if hop.remark else hop.so_far if hop.seconds else ""
    note = svg.fitted_text(note, svg.WIDTH - axis.start, 11)
    return [*parts, svg.text_shape(axis.start, y + 18, note, size=11, tint="soft")] if note else parts


# Bus bandwidth of collectives over the size of the message, on logarithmic axes

TINTS = ("scale-out", "forward", "scale-up", "pp", "weights", "tp")
"""The colors of the curves by number, repeated where there are more."""
RADIUS = 9.0


@dataclass(frozen=True)
class SizeCurve:
    """A collective: sizes in bytes with bus bandwidths in B/s, and the size that gives half of the bandwidth of the
    last.
    """

    points: tuple[tuple[float, float], ...]
    half_size: float | None


def size_chart(curves: Sequence[SizeCurve], alt: str, label: Callable[[float], str]) -> str:
    """Curves, each with its number at the end and a circle at half of its bandwidth. ``label`` is the text of each
    decade of sizes.
    """
    top, bottom = 28.0, 228.0
    x = LogAxis.axis_of_decades([size for curve in curves for size, _ in curve.points], 74, svg.WIDTH - 34)
    y = LogAxis.axis_of_decades([rate for curve in curves for _, rate in curve.points], bottom, top)
    parts = [*vertical_grid(y, x.start, x.end, lambda tick: display(tick, "B/s"))]
    parts += horizontal_grid(x, top, bottom, label)
    parts.append(svg.text_shape(x.end, bottom + 32, "size of the message", size=12, tint="soft", end="end"))
    heights = spread_heights([y(curve.points[-1][1]) for curve in curves], 2 * RADIUS + 2, bottom)
    for number, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        tint = TINTS[number % len(TINTS)]
        parts.append(svg.curve([(x(size), y(rate)) for size, rate in curve.points], tint))
        if curve.half_size is not None:
            parts.append(svg.dot(x(curve.half_size), y(curve.points[-1][1] / 2), tint, radius=4, hollow=True))
        last, at = curve.points[-1], x.end + 20
        parts += [svg.segment(x(last[0]), y(last[1]), at, height, tint), svg.dot(at, height, tint, radius=RADIUS)]
        parts.append(svg.text_shape(at, height + 4, f"{number + 1}", size=11, tint="paper", end="middle"))
    return svg.drawing(bottom + 40, parts, alt, name="sizes")


def spread_heights(heights: Sequence[float], pitch: float, bottom: float) -> list[float]:
    """Heights in their order from the top, at least ``pitch`` apart and not below ``bottom``.

    >>> spread_heights([50.0, 20.0, 24.0], 20.0, 60.0)
    [60.0, 20.0, 40.0]
    """
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    placed = list(heights)
    for above, number in pairwise(order):
        placed[number] = max(placed[number], placed[above] + pitch)
    limit = bottom
    for number in reversed(order):
        placed[number] = min(placed[number], limit)
        limit = placed[number] - pitch
    return placed
