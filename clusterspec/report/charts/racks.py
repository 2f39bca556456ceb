"""Racks in elevation, with their power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.machine import LETTERS, box_centers, box_numbers, dots_shape, labeled_box, middle_of_gap
from clusterspec.results.facility import RACK_UNITS


@dataclass(frozen=True)
class DrawnRacks:
    """Racks of ``nodes`` nodes each (``last`` in the last rack), each node of ``units`` rack units. ``share`` is the
    power of a full rack divided by its limit. ``built_in`` are the parts above the nodes of each rack: number, rack
    units and tint.
    """

    racks: int
    nodes: int
    units: int | None
    power_label: str
    share: float | None
    note: str
    switches: DrawnSwitches | None = None
    last: int | None = None
    built_in: Sequence[tuple[int, int, str]] = ()

    @property
    def full_units(self) -> int:
        """The rack units of all parts of a full rack; 0 where the height of a node is not known."""
        return sum(count * each for count, each, _ in ((self.nodes, self.units or 0, ""), *self.built_in))


@dataclass(frozen=True)
class DrawnSwitches:
    """Switches of ``units`` rack units each in separate racks, at most ``held`` per rack."""

    switches: int
    units: int
    held: int

    @property
    def in_racks(self) -> list[int]:
        """The switches of each rack, all full but the last."""
        full, rest = divmod(self.switches, self.held)
        return [self.held] * full + ([rest] if rest else [])


MOST_RACKS = 8
MOST_SWITCH_RACKS = 3


def rack_chart(racks: DrawnRacks, alt: str) -> str:
    """Racks side by side, nodes and switches to scale where their height is known, and the power of a rack of nodes
    against its limit.
    """
    tall, top = 150.0, 8.0
    others = racks.switches.in_racks if racks.switches else []
    shown = MOST_RACKS - min(len(others), MOST_SWITCH_RACKS) if racks.racks + len(others) > MOST_RACKS else racks.racks
    drawn = min(shown, racks.racks) + min(len(others), MOST_SWITCH_RACKS)
    end = svg.WIDTH * min(shown, racks.racks) / drawn
    centers, pitch = box_centers(racks.racks, shown, 0.0, end)
    wide = min(48.0, pitch - 6)
    unit = tall / max(RACK_UNITS, racks.full_units)
    height = unit * racks.units if racks.units else tall / max(racks.nodes, 8)
    parts = _switch_racks(racks.switches, others, (end, wide, unit), (tall, top)) if racks.switches else []
    for number, x in zip(box_numbers(racks.racks, shown), centers, strict=True):
        if x is None or number is None:
            parts.append(dots_shape(middle_of_gap(centers), top + tall / 2))
            continue
        parts.append(svg.frame(x - wide / 2, top, wide, tall, "soft", stroke=1.5))
        label = f"{racks.units} U" if racks.units and height >= 14 else ""
        held = racks.nodes if number < racks.racks or racks.last is None else racks.last
        for place in range(held):
            y = top + tall - height * (place + 1)
            parts.append(labeled_box(x, y + 1, (wide - 5, max(1.0, height - 2)), "memory", label, size=10))
        parts += _built_in_boxes(racks, x, (wide, unit), top + tall - height * racks.nodes)
        parts.append(svg.text_shape(x, top + tall + 15, f"{number:,}", size=11, tint="soft", end="middle"))
    y = top + tall + 38
    parts.append(svg.text_shape(0, y, racks.power_label, size=12, bold=True))
    if racks.share is not None:
        reach = svg.WIDTH / max(1.0, racks.share)
        parts.append(svg.box(0, y + 8, reach, 12, "wash"))
        parts.append(svg.box(0, y + 8, racks.share * reach, 12, "bad" if racks.share > 1 else "energy"))
        parts.append(svg.segment(reach - 1, y + 4, reach - 1, y + 24, "limit", width=2))
        y += 24
    lines = wrap(racks.note, LETTERS)
    parts += [svg.text_shape(0, y + 18 + 17 * at, line, size=12, tint="soft") for at, line in enumerate(lines)]
    return svg.drawing(y + 9 + 17 * max(1, len(lines)), parts, alt, name="racks")


def _built_in_boxes(racks: DrawnRacks, x: float, measures: tuple[float, float], floor: float) -> Iterator[str]:
    """The boxes of the parts built into a rack, drawn upward from ``floor``; ``measures`` are the width of the rack and
    the height of a rack unit.
    """
    wide, unit = measures
    for count, units, tint in racks.built_in:
        for _ in range(count):
            floor -= unit * units
            yield svg.box(x - wide / 2 + 2.5, floor + 0.5, wide - 5, max(1.0, unit * units - 1), tint)


def _switch_racks(
    switches: DrawnSwitches, nodes: Sequence[int], across: tuple[float, float, float], down: tuple[float, float]
) -> list[str]:
    """The racks of switches, to the right of the racks of nodes; ``across`` is their start, the rack width and the
    height of a rack unit.
    """
    (start, wide, unit), (tall, top) = across, down
    centers, _ = box_centers(len(nodes), MOST_SWITCH_RACKS, start, svg.WIDTH)
    counts = nodes if len(nodes) <= MOST_SWITCH_RACKS else [nodes[0], None, nodes[-1]]
    numbers = box_numbers(len(nodes), MOST_SWITCH_RACKS)
    parts: list[str] = []
    for number, count, x in zip(numbers, counts, centers, strict=True):
        if x is None or count is None:
            parts.append(dots_shape(middle_of_gap(centers), top + tall / 2))
            continue
        parts.append(svg.frame(x - wide / 2, top, wide, tall, "soft", stroke=1.5))
        height = unit * switches.units
        for place in range(count):
            y = top + tall - height * (place + 1)
            parts.append(svg.box(x - wide / 2 + 2.5, y + 0.5, wide - 5, max(1.0, height - 1), "scale-out"))
        parts.append(svg.text_shape(x, top + tall + 15, f"S{number:,}", size=11, tint="soft", end="middle"))
    return parts
