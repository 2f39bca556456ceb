"""Grid charts: step time over tp and pp, and bytes by axis and tier."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.palette import HEAT

WHITE = "#ffffff"
DARK = "#1c2733"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell: ``level`` from 0 (best) to 1, None if the layout is not legal; ``value_text`` is its value."""

    level: float | None
    value_text: str
    hatched: bool = False
    marked: bool = False
    title: str = ""


def heatmap(columns: Sequence[int], rows: Sequence[int], cells: Sequence[HeatCell], alt: str) -> str:
    """Cells row by row over ``columns`` (pp) and ``rows`` (tp)."""
    left, top, tall = 54.0, 46.0, 40.0
    wide = (svg.WIDTH - left - 2) / len(columns)
    parts = [svg.text(left, 16, "pipeline stages (pp)", size=12, tint="soft")]
    parts += [
        svg.text(left + wide * (number + 0.5), 36, f"{pp}", size=12, end="middle", bold=True)
        for number, pp in enumerate(columns)
    ]
    parts.append(svg.text(0, 36, "tp", size=12, tint="soft"))
    marked = ""
    for number, cell in enumerate(cells):
        row, column = divmod(number, len(columns))
        x, y = left + wide * column, top + tall * row
        if column == 0:
            parts.append(svg.text(left - 10, y + tall / 2 + 4, f"{rows[row]}", size=12, end="end", bold=True))
        parts += _cell(cell, x, y, wide - 2, tall - 2)
        marked = svg.frame(x, y, wide - 2, tall - 2, "limit", stroke=3) if cell.marked else marked
    bottom = top + tall * len(rows)
    return svg.drawing(bottom + 52, [*parts, marked, *_key(bottom + 18)], alt, name="layouts")


def _cell(cell: HeatCell, x: float, y: float, wide: float, tall: float) -> list[str]:
    if cell.level is None:
        return [svg.box(x, y, wide, tall, "wash", title=cell.title)]
    step = min(len(HEAT) - 1, int(cell.level * len(HEAT)))
    shapes = [svg.box(x, y, wide, tall, HEAT[step], title=cell.title)]
    if cell.hatched:
        shapes.append(svg.hatch(x, y, wide, tall, WHITE if step > 2 else DARK))
        plate = 7.2 * len(cell.value_text) + 6
        shapes.append(svg.box(x + (wide - plate) / 2, y + tall / 2 - 9, plate, 18, HEAT[step]))
    tint = WHITE if step > 2 else DARK
    shapes.append(svg.text(x + wide / 2, y + tall / 2 + 4, cell.value_text, size=12, tint=tint, end="middle"))
    return shapes


def _key(top: float) -> list[str]:
    """The legend of colors and marks, in two lines."""
    parts = [svg.text(0, top + 2, "step time: fast", size=12)]
    parts += [svg.box(92 + 18 * number, top - 9, 17, 13, tint) for number, tint in enumerate(HEAT)]
    parts.append(svg.text(188, top + 2, "slow", size=12))
    parts += [svg.box(236, top - 9, 17, 13, HEAT[1]), svg.hatch(236, top - 9, 17, 13, DARK, step=5)]
    parts.append(svg.text(259, top + 2, "does not fit", size=12))
    low = top + 24
    parts += [svg.frame(1, low - 9, 17, 13, "limit", stroke=3), svg.text(24, low + 2, "this layout", size=12)]
    parts += [svg.box(110, low - 9, 17, 13, "wash"), svg.text(133, low + 2, "not legal, or no step time", size=12)]
    return parts


@dataclass(frozen=True, slots=True)
class Sent:
    """The bytes of an axis on a tier in a step, and the fraction of the step in which they occupy the link."""

    value_text: str
    busy: float
    busy_text: str


def matrix(axes: Sequence[str], tiers: Sequence[str], cells: dict[tuple[str, str], Sent], alt: str) -> str:
    """Bytes by axis and tier; the bar in a cell is the busy time of the link as a fraction of the step."""
    left, top, tall = 70.0, 30.0, 44.0
    wide = (svg.WIDTH - left) / max(1, len(tiers))
    parts = [svg.text(left + wide * number + 6, 18, tier, size=13, bold=True) for number, tier in enumerate(tiers)]
    for row, axis in enumerate(axes):
        y = top + tall * row
        parts += [svg.line(0, y - 2, svg.WIDTH, y - 2), svg.text(0, y + 20, axis, bold=True)]
        for column, tier in enumerate(tiers):
            cell = cells.get((axis, tier))
            if cell is None:
                continue
            x = left + wide * column + 6
            parts.append(svg.text(x, y + 17, cell.value_text))
            parts.append(svg.text(x + wide - 16, y + 17, cell.busy_text, end="end", tint="soft", size=12))
            parts.append(svg.box(x, y + 25, wide - 16, 8, "wash"))
            parts.append(svg.box(x, y + 25, (wide - 16) * min(1.0, cell.busy), 8, _tint(axis)))
    return svg.drawing(top + tall * len(axes) + 2, parts, alt, name="bytes")


def _tint(axis: str) -> str:
    from clusterspec.report.charts.palette import cause_of

    return cause_of(axis)
