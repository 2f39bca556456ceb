"""Charts of numbered points on logarithmic axes: kernels under the roofline, and the Pareto front of serving plans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import ceil, floor, inf, log10

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.svg import LogAxis, horizontal_grid, vertical_grid
from clusterspec.units import display

# The roofline of an accelerator with the kernels of a step on it

RADIUS = 9.0
AROUND = ((0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))
"""Directions in which a mark is moved from its place, right and down."""


@dataclass(frozen=True)
class RooflinePoint:
    """A kernel: arithmetic intensity in FLOP/B, achieved FLOP/s, and its fraction of the total time."""

    label: str
    intensity: float
    rate: float
    share: float


def roofline_chart(peak: float, bandwidth: float, points: Sequence[RooflinePoint], alt: str) -> str:
    """Kernels by arithmetic intensity and rate, with the roofline of ``peak`` FLOP/s and ``bandwidth`` B/s."""
    ridge = peak / bandwidth
    x = LogAxis.axis_of_decades([ridge / 30, ridge, *(point.intensity for point in points)], 96, svg.WIDTH - 12)
    top, bottom = 36.0, 236.0
    y = LogAxis.axis_of_decades([peak, *(point.rate for point in points)], bottom, top)
    parts = [*vertical_grid(y, x.start, x.end, lambda tick: display(tick, "FLOP/s"))]
    parts += horizontal_grid(x, top, bottom, lambda tick: f"{tick:,.0f}" if tick >= 1 else f"{tick:g}")
    parts.append(
        svg.text_shape(x.end, bottom + 32, "FLOPs for each byte of device memory", size=12, tint="soft", end="end")
    )
    low = max(x.low, y.low / bandwidth)
    roof = ((x(low), y(low * bandwidth)), (x(ridge), y(peak)), (x.end, y(peak)))
    parts.append(svg.curve(roof, "ink"))
    parts.append(svg.text_shape(x.start, 14, f"peak {display(peak, 'FLOP/s')}", size=12, bold=True))
    ordered = sorted(points, key=lambda point: -point.share)
    places = [(x(point.intensity), y(point.rate)) for point in ordered]
    labels = [str(number) for number in range(1, len(places) + 1)]
    parts += labeled_marks(places, separated_marks(places, roof, bottom), labels)
    return svg.drawing(bottom + 40, parts, alt, name="roofline")


def separated_marks(
    places: Sequence[tuple[float, float]],
    roof: Sequence[tuple[float, float]] = (),
    bottom: float = inf,
    halves: Sequence[float] = (),
) -> list[tuple[float, float]]:
    """The positions of marks, moved apart until they do not overlap or the space is used up. No mark is moved above
    the line ``roof``, since nothing can be there, or onto the labels of the axis at ``bottom``. ``halves`` are half the
    widths of marks that are wider than circles.

    >>> separated_marks([(50.0, 50.0), (90.0, 50.0), (52.0, 50.0)])
    [(50.0, 50.0), (90.0, 50.0), (52.0, 72.0)]
    >>> separated_marks([(50.0, 50.0), (52.0, 50.0)], bottom=60.0)
    [(50.0, 50.0), (52.0, 28.0)]
    >>> separated_marks([(50.0, 50.0), (75.0, 50.0)], halves=[20.0, 9.0])
    [(50.0, 50.0), (75.0, 72.0)]
    """
    halves = halves or [RADIUS] * len(places)
    marks: list[tuple[float, float]] = []
    for (x, y), half in zip(places, halves, strict=True):
        around = [(x + reach * right, y + reach * down) for reach in (0, 22, 44, 66) for right, down in AROUND]
        inside = (spot for spot in around if spot[1] <= bottom - RADIUS and spot[1] >= _height_of(roof, spot[0]))
        near = [(x, y), *inside]
        apart = [half + other for other in halves]
        free = (spot for spot in near if not any(map(_marks_overlap, [spot] * len(marks), marks, apart)))
        marks.append(next(free, (x, y)))
    return marks


def _marks_overlap(one: tuple[float, float], other: tuple[float, float], halves: float) -> bool:
    """Whether two marks overlap: circles, or rectangles with round ends. ``halves`` is the sum of their half widths."""
    across, along = abs(one[0] - other[0]), abs(one[1] - other[1])
    beyond = max(0.0, across - (halves - 2 * RADIUS))
    return beyond**2 + along**2 < (2 * RADIUS + 1) ** 2


def labeled_marks(
    places: Sequence[tuple[float, float]], spots: Sequence[tuple[float, float]], labels: Sequence[str]
) -> list[str]:
    """Numbered marks. A mark on its point is filled. A mark that was moved aside is a ring with a thin line to a dot at
    its point, so that its position is not read as a value.
    """
    parts = []
    marks = [(*each, each[0] != each[1]) for each in zip(places, spots, labels, strict=True)]
    for place, spot, _, aside in marks:
        parts += [svg.segment(*place, *spot, "soft"), svg.dot(*place, "forward", radius=3.5)] if aside else []
    for _, spot, label, aside in marks:
        half = mark_half(label)
        parts.append(_round_mark(spot, half, RADIUS, "soft" if aside else "forward"))
        parts += [_round_mark(spot, half - 1, RADIUS - 1, "paper")] if aside else []
        tint = "ink" if aside else "paper"
        parts.append(svg.text_shape(spot[0], spot[1] + 4, label, size=11, tint=tint, end="middle"))
    return parts


def mark_half(label: str) -> float:
    """Half the width of a mark with a label: a circle for a number, longer for a range of numbers."""
    return RADIUS if len(label) < 3 else svg.text_width(label, 11) / 2 + 4


def _round_mark(spot: tuple[float, float], half: float, radius: float, tint: str) -> str:
    """A circle, or a rectangle with round ends."""
    if half <= radius:
        return svg.dot(*spot, tint, radius=radius)
    return svg.box(spot[0] - half, spot[1] - radius, 2 * half, 2 * radius, tint, radius=radius)


SAME = 3.0
"""Units of a drawing within which points look like one."""


def joined_marks(places: Sequence[tuple[float, float]]) -> list[tuple[tuple[float, float], str]]:
    """The places of numbered points with their labels; consecutive points that look like one share a mark.

    >>> joined_marks([(0.0, 0.0), (50.0, 9.0), (51.0, 8.0), (52.0, 8.0), (90.0, 9.0)])
    [((0.0, 0.0), '1'), ((50.0, 9.0), '2–4'), ((90.0, 9.0), '5')]
    """
    found: list[tuple[tuple[float, float], int, int]] = []
    for number, (x, y) in enumerate(places, 1):
        if found and max(abs(x - found[-1][0][0]), abs(y - found[-1][0][1])) <= SAME:
            found[-1] = (*found[-1][:2], number)
        else:
            found.append(((x, y), number, number))
    return [(place, str(first) if first == last else f"{first}–{last}") for place, first, last in found]


def _height_of(line: Sequence[tuple[float, float]], x: float) -> float:
    """The y of a line from left to right at an x, as far as it goes; 0 without a line."""
    for (left, start), (right, end) in itertools.pairwise(line):
        if x <= right:
            return start + (end - start) * max(0.0, x - left) / (right - left)
    return line[-1][1] if line else 0.0


# The Pareto front of serving plans: output tokens per second per user and per accelerator


@dataclass(frozen=True)
class FrontPoint:
    """One plan: tokens per second per user and per accelerator, the engines (``label``), and the requests in flight
    (``note``).
    """

    per_user: float
    per_accelerator: float
    label: str
    note: str


FRONT_TOP, BOTTOM = 34.0, 254.0
MARGIN = 1.25
"""Space of an axis beyond its outermost points, as a factor."""


def front_chart(points: Sequence[FrontPoint], present: FrontPoint | None, alt: str) -> str:
    """The Pareto front of users against accelerators: its plans by number, joined in order, and a diamond for the plan
    of the spec.
    """
    shown = [*points, *([present] if present else [])]
    x = _log_axis([point.per_user for point in shown], 52, svg.WIDTH - 14)
    y = _log_axis([point.per_accelerator for point in shown], BOTTOM, FRONT_TOP)
    parts = [svg.text_shape(0, FRONT_TOP - 20, "output tokens per second of an accelerator", size=12, tint="soft")]
    for tick in _decade_ticks(y):
        parts.append(svg.segment(x.start, y(tick), x.end, y(tick)))
        parts.append(svg.text_shape(x.start - 6, y(tick) + 4, _tick_text(tick), size=11, tint="soft", end="end"))
    for tick in _decade_ticks(x):
        parts.append(svg.segment(x(tick), FRONT_TOP, x(tick), BOTTOM))
        parts.append(svg.text_shape(x(tick), BOTTOM + 15, _tick_text(tick), size=11, tint="soft", end="middle"))
    parts.append(
        svg.text_shape(x.end, BOTTOM + 32, "output tokens per second of a user", size=12, tint="soft", end="end")
    )
    joined = [*points, present] if present and not any(_is_dominant(point, present) for point in points) else points
    ordered = sorted(joined, key=lambda point: (-point.per_user, point.per_accelerator))
    parts.append(svg.curve([(x(point.per_user), y(point.per_accelerator)) for point in ordered], "forward"))
    joint = joined_marks([(x(point.per_user), y(point.per_accelerator)) for point in points])
    places, labels = [place for place, _ in joint], [label for _, label in joint]
    head = [(0.0, FRONT_TOP - 6), (svg.WIDTH, FRONT_TOP - 6)]  # below the name of the axis
    parts += labeled_marks(places, separated_marks(places, head, BOTTOM, [*map(mark_half, labels)]), labels)
    if present:
        parts.append(svg.diamond(x(present.per_user), y(present.per_accelerator), "limit", radius=7))
    return svg.drawing(BOTTOM + 42, parts, alt, name="front")


def _is_dominant(point: FrontPoint, other: FrontPoint) -> bool:
    """Whether a plan dominates another: it is at least as good per user and per accelerator, and better in one
    of them.
    """
    pair = (point.per_user, point.per_accelerator), (other.per_user, other.per_accelerator)
    return pair[0] != pair[1] and all(a >= b for a, b in zip(*pair, strict=True))


def _log_axis(values: Sequence[float], start: float, end: float) -> LogAxis:
    """A logarithmic axis around the values."""
    return LogAxis(min(values) / MARGIN, max(values) * MARGIN, start, end)


def _decade_ticks(axis: LogAxis) -> list[float]:
    """The values 1, 2 and 5 of every decade of an axis."""
    decades = range(floor(log10(axis.low)), ceil(log10(axis.high)) + 1)
    found = [factor * 10.0**power for power in decades for factor in (1, 2, 5)]
    return [tick for tick in found if axis.low <= tick <= axis.high]


def _tick_text(tick: float) -> str:
    return f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"
