"""Diagram of the machine: one square per part, with switch levels above nodes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.units import plural

MOST = 2400
"""Maximum squares of a level; with more parts, one square represents several."""


@dataclass(frozen=True, slots=True)
class DrawnLevel:
    """A level: its parts, a note on its uplinks, and the number of parts per block."""

    name: str
    count: int
    tint: str
    note: str
    block: int = 0


def levels(rows: Sequence[DrawnLevel], alt: str) -> str:
    """The levels from the top down, one square per part, grouped by block."""
    parts: list[str] = []
    y = 4.0
    for row in rows:
        each = ceil(row.count / MOST)
        drawn = ceil(row.count / each)
        parts.append(svg.text(0, y + 13, plural(row.count, row.name), bold=True))
        parts.append(svg.text(svg.WIDTH, y + 13, row.note, size=12, tint="soft", end="end"))
        shapes, height = _squares(drawn, max(1, row.block // each) if row.block else 0, row.tint, y + 22)
        parts += shapes
        y += 22 + height
        if each > 1:
            parts.append(svg.text(0, y + 12, f"one square is {each:,} of them", size=11, tint="soft"))
            y += 16
        y += 12
    return svg.drawing(y, parts, alt, name="fabric")


def _squares(count: int, block: int, tint: str, top: float) -> tuple[list[str], float]:
    """Squares of a size that fits, with a gap after each block if possible."""
    side = max(3.0, min(18.0, sqrt(svg.WIDTH * _depth(count) / count) - 1))
    pitch = side + 1.5
    grouped = 1 < block < count and block * pitch + 4 <= svg.WIDTH
    wide = block * pitch + 4 if grouped else pitch
    across = max(1, int((svg.WIDTH + 1) // wide))
    places = []
    for number in range(count):
        group, inside = divmod(number, block) if grouped else (number, 0)
        row, column = divmod(group, across)
        places.append((column * wide + inside * pitch, top + row * pitch))
    lines = ceil(ceil(count / block) / across) if grouped else ceil(count / across)
    return [svg.squares(places, side, tint)], lines * pitch


def _depth(count: int) -> float:
    """The maximum height of a number of squares."""
    return 20.0 if count <= 24 else 60.0 if count <= 300 else 130.0
