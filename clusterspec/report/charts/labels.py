"""Places of the names of points in a chart: next to their points, clear of each other and of other marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot

from clusterspec.records import NamedTuple
from clusterspec.report.charts import svg

Point = tuple[float, float]
SIZE = 11
"""The size of the letters of a name."""
RINGS = (0.0, 14.0, 28.0, 42.0)
"""Distances by which a name is moved away from its point if no place next to the point is free."""
CONFLICT, CROSSING, FARTHER = 100.0, 3.0, 0.1
"""The costs of covering a mark or another name, of crossing a line, and of each further place in the order of
places.
"""
NEAR = 16.0
"""The distance of a name from its point up to which no line is needed to join them."""


class Box(NamedTuple):
    """A rectangle in units of the drawing, with its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether two rectangles have an area in common."""
        horizontally_clear = self.right <= other.left or other.right <= self.left
        return not (horizontally_clear or self.bottom <= other.top or other.bottom <= self.top)

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Whether a straight line passes through the rectangle (Liang and Barsky, 1984)."""
        first, last = 0.0, 1.0
        for at, step, low, high in (
            (start[0], end[0] - start[0], self.left, self.right),
            (start[1], end[1] - start[1], self.top, self.bottom),
        ):
            if not step:
                if not low < at < high:
                    return False
                continue
            ends = sorted(((low - at) / step, (high - at) / step))
            first, last = max(first, ends[0]), min(last, ends[1])
        return first < last


def mark_box(mark: Point, radius: float) -> Box:
    """The rectangle of a mark, with two units around it."""
    return Box(mark[0] - radius - 2, mark[1] - radius - 2, mark[0] + radius + 2, mark[1] + radius + 2)


def name_box(text: str, left: float, base: float) -> Box:
    """The plate of a name whose text begins at ``left`` on the line ``base``."""
    return Box(left - 2, base - 10, left + svg.text_width(text, SIZE) + 2, base + 3)


def name_places(
    names: Sequence[tuple[str, Point]],
    occupied: Sequence[Box],
    curve: Sequence[Point],
    frame: Box,
    *,
    level: float | None = None,
    rising: bool = True,
) -> list[Point]:
    """The left end and base line of each name, in the order of ``names``. Names are placed near their points.

    If a place near its point allows it, a name stays in the ``frame`` and covers neither the boxes ``occupied``, an
    earlier name, nor the horizontal line at ``level``. Among these places, the first that does not cover the ``curve``
    is used. Below a ``rising`` curve is on its right.
    """
    found: list[Point] = []
    boxes = [*occupied]
    lines = [*pairwise(curve)]
    for text, mark in names:
        places = [*_label_places(mark, svg.text_width(text, SIZE), frame, rising=rising)]
        costs = []
        for number, (left, base) in enumerate(places):
            box = name_box(text, left, base)
            conflicts = sum(map(box.overlaps, boxes)) + (level is not None and base - 12 < level < base + 5)
            conflicts += box.left < frame.left or box.top < frame.top or box.bottom > frame.bottom
            crossings = sum(box.is_crossed(*line) for line in lines)
            costs.append(CONFLICT * conflicts + CROSSING * crossings + FARTHER * number)
        found.append(places[costs.index(min(costs))])
        boxes.append(name_box(text, *found[-1]))
    return found


def _label_places(mark: Point, wide: float, frame: Box, *, rising: bool) -> Iterator[Point]:
    """Places of a name around a mark, from the usual ones to places farther away."""
    x, y = mark
    most = frame.right - wide
    for ring in RINGS:
        right, left, below, above = x + 8 + ring, x - 8 - wide - ring, y + 16 + ring, y - 8 - ring
        first, second = ((right, below), (left, above)) if rising else ((left, below), (right, above))
        corners = (
            first,
            second,
            (first[0], below + 14),
            (right, above - 2),
            (left, below),
            (right, below),
            (left, above),
        )
        sides = ((right, y + 4), (left, y + 4), (x - wide / 2, above - 2), (x - wide / 2, below + 2))
        yield from ((min(max(at, 2.0), most), base) for at, base in (*corners, *sides))


def leader_line(text: str, place: Point, mark: Point) -> tuple[Point, Point] | None:
    """The line from a mark to the nearest point of its name; None where the name is next to it."""
    box = name_box(text, *place)
    near = min(max(mark[0], box.left), box.right), min(max(mark[1], box.top), box.bottom)
    return (mark, near) if hypot(near[0] - mark[0], near[1] - mark[1]) > NEAR else None
