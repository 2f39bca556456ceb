"""Dot plots on a logarithmic axis: bandwidth per accelerator by tier, and communication time."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LogAxis, horizontal
from clusterspec.units import display


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row: line rate, predicted and measured bandwidth in B/s; None if unknown."""

    label: str
    tint: str
    line_rate: float
    predicted: float | None
    measured: float | None
    note: str = ""


STEP = 42.0
TOP = 34.0


def dots(rows: Sequence[DotRow], alt: str) -> str:
    """One row per tier: hollow circle for the line rate, filled circle for predicted, diamond for measured."""
    values = [value for row in rows for value in (row.line_rate, row.predicted, row.measured) if value]
    axis = LogAxis.around(values, 8, svg.WIDTH - 16)
    bottom = TOP + STEP * len(rows)
    parts = [*_key(), *horizontal(axis, TOP - 6, bottom, lambda tick: display(tick, "B/s"), _lanes(len(rows)))]
    for number, row in enumerate(rows):
        y = TOP + STEP * number + 28
        parts.append(svg.text(8, y - 14, svg.fitted(row.label, row.note), bold=True))
        parts.append(svg.text(svg.WIDTH - 8, y - 14, row.note, size=12, tint="soft", end="end"))
        parts.append(svg.line(axis.start, y, axis(row.line_rate), y, row.tint, width=2))
        parts.append(svg.dot(axis(row.line_rate), y, row.tint, radius=6, hollow=True))
        if row.predicted:
            parts.append(svg.dot(axis(row.predicted), y, row.tint, radius=5))
        if row.measured:
            parts.append(svg.diamond(axis(row.measured), y, "limit"))
    return svg.drawing(bottom + 24, parts, alt, name="bandwidth")


def _lanes(count: int) -> list[tuple[float, float]]:
    """The space of the dots of each row, below its label."""
    return [(TOP + STEP * number + 18, TOP + STEP * number + 38) for number in range(count)]


def _key() -> list[str]:
    return [
        svg.dot(14, 10, "ink", radius=6, hollow=True),
        svg.text(26, 14, "line rate", size=12),
        svg.dot(104, 10, "ink", radius=5),
        svg.text(116, 14, "predicted", size=12),
        svg.diamond(198, 10, "limit"),
        svg.text(210, 14, "measured", size=12),
    ]


@dataclass(frozen=True, slots=True)
class WireRow:
    """The communication time of one kind of parallelism and the computation time, in seconds."""

    label: str
    tint: str
    wire: float
    compute: float


def wires(rows: Sequence[WireRow], alt: str) -> str:
    """One row per kind of parallelism: a dot for communication time, a line for the computation that can overlap it."""
    axis = LogAxis.around([value for row in rows for value in (row.wire, row.compute)], 8, svg.WIDTH - 16)
    bottom = TOP + STEP * len(rows)
    parts = [
        svg.dot(14, 10, "ink"),
        svg.text(26, 14, "on the wire", size=12),
        svg.line(110, 3, 110, 18, "limit", width=3),
        svg.text(118, 14, "computation of the step", size=12),
        *horizontal(axis, TOP - 6, bottom, lambda tick: display(tick, "s"), _lanes(len(rows))),
    ]
    for number, row in enumerate(rows):
        y = TOP + STEP * number + 28
        word = "can be hidden" if row.wire < row.compute else "exceeds the computation"
        parts.append(svg.text(8, y - 14, row.label, bold=True))
        parts.append(
            svg.text(svg.WIDTH - 8, y - 14, f"{display(row.wire, 's')}, {word}", size=12, tint="soft", end="end")
        )
        parts.append(svg.line(axis.start, y, axis(row.wire), y, row.tint, width=2))
        parts.append(svg.dot(axis(row.wire), y, row.tint, radius=6))
        parts.append(svg.line(axis(row.compute), y - 8, axis(row.compute), y + 8, "limit", width=3))
    return svg.drawing(bottom + 24, parts, alt, name="survival")
