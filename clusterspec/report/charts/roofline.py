"""The roofline of an accelerator with the kernels of a step on it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LogAxis, horizontal, vertical
from clusterspec.units import display, portion

RADIUS = 9.0
AROUND = ((0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))
"""Directions in which a mark is moved from its place, right and down."""


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """A kernel: arithmetic intensity in FLOP/B, achieved FLOP/s, and its fraction of the total time."""

    label: str
    intensity: float
    rate: float
    share: float


def roofline(peak: float, bandwidth: float, points: Sequence[RooflinePoint], alt: str) -> str:
    """Kernels by arithmetic intensity and rate, with the roofline of ``peak`` FLOP/s and ``bandwidth`` B/s."""
    ridge = peak / bandwidth
    x = LogAxis.around([ridge / 30, ridge, *(point.intensity for point in points)], 96, svg.WIDTH - 12)
    top, bottom = 16.0, 250.0
    y = LogAxis.around([peak, *(point.rate for point in points)], bottom, top)
    parts = [*vertical(y, x.start, x.end, lambda tick: display(tick, "FLOP/s"))]
    parts += horizontal(x, top, bottom, lambda tick: f"{tick:,.0f}" if tick >= 1 else f"{tick:g}")
    parts.append(svg.text(x.end, bottom + 32, "FLOPs for each byte of device memory", size=12, tint="soft", end="end"))
    low = max(x.low, y.low / bandwidth)
    parts.append(svg.curve([(x(low), y(low * bandwidth)), (x(ridge), y(peak)), (x.end, y(peak))], "ink"))
    parts.append(svg.text(x(ridge) - 8, y(peak) + 4, f"peak {display(peak, 'FLOP/s')}", size=12, end="end", bold=True))
    ordered = sorted(points, key=lambda point: -point.share)
    places = [(x(point.intensity), y(point.rate)) for point in ordered]
    for number, (place, mark) in enumerate(zip(places, apart(places), strict=True), 1):
        if mark != place:
            parts += [svg.line(*place, *mark, "forward"), svg.dot(*place, "forward", radius=3)]
        parts.append(svg.dot(*mark, "forward", radius=RADIUS))
        parts.append(svg.text(mark[0], mark[1] + 4, str(number), size=11, tint="paper", end="middle"))
    shown, end = _names(ordered, bottom + 58)
    return svg.drawing(end, parts + shown, alt, name="roofline")


def apart(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Positions of marks near their places that do not overlap, as far as there is space.

    >>> apart([(50.0, 50.0), (90.0, 50.0), (52.0, 50.0)])
    [(50.0, 50.0), (90.0, 50.0), (52.0, 72.0)]
    """
    marks: list[tuple[float, float]] = []
    for x, y in places:
        near = [(x + reach * right, y + reach * down) for reach in (0, 22, 44) for right, down in AROUND]
        free = (
            spot
            for spot in near
            if all((spot[0] - mark[0]) ** 2 + (spot[1] - mark[1]) ** 2 >= (2 * RADIUS + 1) ** 2 for mark in marks)
        )
        marks.append(next(free, (x, y)))
    return marks


def _names(points: Sequence[RooflinePoint], top: float) -> tuple[list[str], float]:
    """The numbered kernels with their rate and fraction of the total time."""
    shapes = []
    for number, point in enumerate(points, 1):
        y = top + 20 * (number - 1)
        shapes.append(svg.text(0, y, f"{number}", bold=True))
        shapes.append(svg.text(22, y, point.label))
        shapes.append(svg.text(svg.WIDTH - 110, y, display(point.rate, "FLOP/s"), end="end"))
        shapes.append(svg.text(svg.WIDTH - 2, y, f"{portion(point.share)} of time", end="end", tint="soft"))
    return shapes, top + 20 * len(points) - 8
