"""Bandwidth as an isometric stack of plates of one thickness, whose areas and volumes are to scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sqrt

from clusterspec.records import dataclass
from clusterspec.report.charts import svg


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
PITCH = 50.0
BLACK = "#000000"
ACROSS, DOWN = cos(pi / 6), 0.5
"""The horizontal and vertical length on the page of a unit along an edge of a plate."""


def pyramid_chart(plates: Sequence[AreaPlate], alt: str) -> str:
    """Plates with the largest at the bottom, each on the axis of the stack; labels stand at the right, on a line from
    the right corner of their plate.
    """
    ranked = sorted(plates, key=lambda plate: plate.value)
    sides = [SIDE * sqrt(plate.value / ranked[-1].value) for plate in ranked]
    top = max(16.0, *(DOWN * side - PITCH * number + 4 for number, side in enumerate(sides)))
    base = top + PITCH * (len(ranked) - 1)
    parts = [svg.segment(MIDDLE, top, MIDDLE, base, "line", dash="2 3")] if len(ranked) > 1 else []
    for number, (plate, side) in reversed(list(enumerate(zip(ranked, sides, strict=True)))):
        parts += _plate_shapes(plate, side, top + PITCH * number)
    for number, (plate, side) in enumerate(zip(ranked, sides, strict=True)):
        parts += _label_shapes(plate, side, top + PITCH * number)
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
