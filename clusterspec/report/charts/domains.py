"""A scale-up domain of several nodes: the trays of a rack and the switch trays that connect their accelerators."""

from __future__ import annotations

from collections.abc import Sequence

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
