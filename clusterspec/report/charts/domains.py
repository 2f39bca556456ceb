"""Scale-up domains: the trays of a rack with the switch trays that connect their accelerators, and a torus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.machine import box_centers, dots_shape, middle_of_gap


@dataclass(frozen=True)
class DrawnDomain:
    """Nodes with some accelerators each, and the switch trays of their domain."""

    nodes: int
    accelerators: int
    switches: int
    node_title: str
    switch_title: str
    notes: tuple[str, ...]


MOST_TRAYS = 24
MOST_SWITCHES = 18
LEFT, RIGHT = 168.0, 306.0
"""The right edge of the nodes, and the left edge of the switches."""
PITCH = 13.0


def domain_chart(domain: DrawnDomain, alt: str) -> str:
    """Nodes at the left, switch trays at the right, and the links between them; links of the first node are dark."""
    top = 22.0
    tall = PITCH * max(min(domain.nodes, MOST_TRAYS), min(domain.switches, MOST_SWITCHES))
    nodes, _ = box_centers(domain.nodes, MOST_TRAYS, top, top + tall)
    switches, _ = box_centers(domain.switches, MOST_SWITCHES, top, top + tall)
    near, far = [y for y in nodes if y is not None], [y for y in switches if y is not None]
    parts = [svg.text_shape(0, 13, domain.node_title, size=12, bold=True)]
    parts.append(svg.text_shape(svg.WIDTH, 13, domain.switch_title, size=12, bold=True, end="end"))
    parts += [svg.segment(LEFT, y, RIGHT, other, "line", width=0.6) for y in near[1:] for other in far]
    parts += [svg.segment(LEFT, near[0], RIGHT, other, "scale-up", width=1.4) for other in far]
    parts += _tray_shapes(nodes, domain.accelerators)
    for number, y in enumerate(switches, 1):
        if y is None:
            parts.append(dots_shape((RIGHT + svg.WIDTH) / 2, middle_of_gap(switches) + 4))
            continue
        parts.append(svg.box(RIGHT, y - 5, svg.WIDTH - RIGHT, 10, "scale-up", title=f"switch tray {number}"))
    low = top + tall + 18
    parts += [
        svg.text_shape(0, low + 17 * number, note, size=12, tint="soft" if number else "ink")
        for number, note in enumerate(domain.notes)
    ]
    return svg.drawing(low + 17 * len(domain.notes) - 8, parts, alt, name="domain")


def _tray_shapes(centers: Sequence[float | None], accelerators: int) -> list[str]:
    """Nodes as frames around their accelerators."""
    side = min(16.0, (LEFT - 8) / max(1, accelerators) - 3)
    parts: list[str] = []
    for y in centers:
        if y is None:
            parts.append(dots_shape(LEFT / 2, middle_of_gap(centers) + 4))
            continue
        parts.append(svg.frame(0.7, y - 5.2, LEFT - 1.4, 10.4, "soft", stroke=1))
        step = LEFT / accelerators
        parts += [
            svg.box(step * (number + 0.5) - side / 2, y - 3.2, side, 6.4, "memory", radius=0)
            for number in range(accelerators)
        ]
    return parts


# A torus as a grid, or as the three visible faces of a box

MOST_PLANES = 6
OUTER_LINK = 8.0
"""The length of a link that goes around."""


def torus_chart(shape: Sequence[int], alt: str, label: str, note: str) -> str:
    """The first two dimensions as a grid; a third as depth, with the front, top and right faces drawn.

    Short lines at the edges are the wraparound links. If there are many planes, only the first ones are drawn.
    """
    across, down = shape[0], shape[1] if len(shape) > 1 else 1
    depth = min(shape[2] if len(shape) > 2 else 1, MOST_PLANES)
    pitch = min(34.0, (svg.WIDTH - 60) / (max(1, across - 1) + 0.5 * (depth - 1)), 190.0 / max(1, down - 1))
    right, up = (0.5 * pitch, 0.36 * pitch) if depth > 1 else (0.0, 0.0)
    left, top = 24.0, 20.0 + up * (depth - 1)

    def point(column: float, row: float, plane: float) -> tuple[float, float]:
        return left + column * pitch + plane * right, top + row * pitch - plane * up

    parts = _torus_links((across, down, depth), point, pitch)
    low = top + (down - 1) * pitch + 36
    parts.append(svg.text_shape(10, low, label, size=12, bold=True))
    parts.append(svg.text_shape(10, low + 17, note, size=12, tint="soft"))
    return svg.drawing(low + 26, parts, alt, name="torus")


def _torus_links(
    sizes: tuple[int, int, int], point: Callable[[float, float, float], tuple[float, float]], pitch: float
) -> list[str]:
    """The links and the accelerators on the visible faces of a torus, the farthest first."""
    across, down, depth = sizes
    outer, dot = OUTER_LINK / pitch, min(3.4, 0.24 * pitch)
    shapes: list[str] = []

    def link(first: tuple[float, float, float], last: tuple[float, float, float], tint: str) -> None:
        shapes.append(svg.segment(*point(*first), *point(*last), tint, width=1.2))

    end, side = (depth - 1 + 1.2 * outer, across - 1) if depth > 1 else (0.0, across - 1 + outer)
    for plane in range(depth - 1, 0, -1):
        link((0, 0, plane), (side, 0, plane), "line")
        link((side, 0, plane), (side, down - 1, plane), "line")
    for column in range(across if depth > 1 else 0):
        link((column, 0, 0), (column, 0, end), "line")
    for row in range(1 if depth > 1 else down, down):
        link((side, row, 0), (side, row, end), "line")
    for row in range(down):
        link((-outer, row, 0), (side, row, 0), "scale-up")
    for column in range(across if down > 1 else 0):
        link((column, 0 if depth > 1 else -outer, 0), (column, down - 1 + outer, 0), "scale-up")
    hidden = [(column, 0, plane) for plane in range(depth - 1, 0, -1) for column in range(across)]
    hidden += [(across - 1, row, plane) for plane in range(depth - 1, 0, -1) for row in range(1, down)]
    shapes += [svg.dot(*point(*each), "soft", radius=0.7 * dot) for each in hidden]
    front = [(column, row, 0) for row in range(down) for column in range(across)]
    return [*shapes, *(svg.dot(*point(*each), "memory", radius=dot) for each in front)]
