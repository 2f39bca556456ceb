"""Bus bandwidth of collectives over the size of the message, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.svg import LogAxis, horizontal_grid, vertical_grid
from clusterspec.units import display

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
