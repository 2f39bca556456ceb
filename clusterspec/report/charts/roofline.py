"""The roofline of an accelerator with the kernels of a step on it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LogAxis, horizontal, vertical
from clusterspec.units import display, percent


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
    parts.append(svg.text(x.end - 4, y(peak) - 6, f"peak {display(peak, 'FLOP/s')}", size=12, end="end", bold=True))
    ordered = sorted(points, key=lambda point: -point.share)
    for number, point in enumerate(ordered, 1):
        parts.append(svg.dot(x(point.intensity), y(point.rate), "forward", radius=9))
        spot = svg.text(x(point.intensity), y(point.rate) + 4, str(number), size=11, tint="#ffffff", end="middle")
        parts.append(spot)
    shown, end = _names(ordered, bottom + 58)
    return svg.drawing(end, parts + shown, alt, name="roofline")


def _names(points: Sequence[RooflinePoint], top: float) -> tuple[list[str], float]:
    """The numbered kernels with their rate and fraction of the total time."""
    shapes = []
    for number, point in enumerate(points, 1):
        y = top + 20 * (number - 1)
        shapes.append(svg.text(0, y, f"{number}", bold=True))
        shapes.append(svg.text(22, y, point.label))
        shapes.append(svg.text(svg.WIDTH - 110, y, display(point.rate, "FLOP/s"), end="end"))
        shapes.append(svg.text(svg.WIDTH - 2, y, f"{percent(point.share, 2)} of time", end="end", tint="soft"))
    return shapes, top + 20 * len(points) - 8
