"""Predicted against published, on logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clusterspec.report.charts.svg import FONT, box, segment, text_shape
from clusterspec.units import display
from tools.accuracy.cases import Case

SIDE, LEFT, TOP, WIDTH = 420.0, 80.0, 20.0, 720
INK, SOFT, LINE = "#1c2733", "#5d6b7a", "#d5dce4"
PALETTE = ("#1f5fa8", "#2a9d8f", "#e0a030", "#c8553d", "#7a5ea8", "#6b8e3d", "#4aa3c7", "#a0687a", "#8a8f98")


def scatter(cases: Sequence[Case], unit: str) -> str:
    """A dot for each case, the diagonal, and a quarter either way dashed faintly."""
    shown = [case for case in cases if case.predicted and case.published > 0]
    values = [value for case in shown for value in (case.published, case.predicted or case.published)]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    scale = SIDE / (high - low)

    def place(value: float) -> float:
        return (math.log10(value) - low) * scale

    parts = [box(LEFT, TOP, SIDE, SIDE, "#fafbfc")]
    for power in range(low, high + 1):
        at = (power - low) * scale
        parts += [
            segment(LEFT + at, TOP, LEFT + at, TOP + SIDE, LINE),
            segment(LEFT, TOP + SIDE - at, LEFT + SIDE, TOP + SIDE - at, LINE),
            text_shape(LEFT + at, TOP + SIDE + 18, display(10.0**power, unit), size=10, tint=SOFT, end="middle"),
            text_shape(LEFT - 8, TOP + SIDE - at + 4, display(10.0**power, unit), size=10, tint=SOFT, end="end"),
        ]
    for factor, color in ((1.0, INK), (1.25, LINE), (0.8, LINE)):
        shift = math.log10(factor) * scale
        start, stop = max(0.0, -shift), SIDE - max(0.0, shift)
        ends = (LEFT + start, TOP + SIDE - start - shift, LEFT + stop, TOP + SIDE - stop - shift)
        parts.append(segment(*ends, color if factor == 1.0 else "#9aa7b4", width=1.2 if factor == 1.0 else 0.8))
    groups = sorted({case.group for case in shown})
    for case in shown:
        color = PALETTE[groups.index(case.group) % len(PALETTE)]
        x, y = LEFT + place(case.published), TOP + SIDE - place(case.predicted or case.published)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}" fill-opacity="0.65"/>')
    for number, group in enumerate(groups):
        y = TOP + 14 + 18 * number
        parts.append(
            f'<circle cx="{LEFT + SIDE + 20:.1f}" cy="{y - 4:.1f}" r="4" fill="{PALETTE[number % len(PALETTE)]}"/>'
        )
        parts.append(text_shape(LEFT + SIDE + 30, y, group, size=11, tint=INK))
    parts.append(text_shape(LEFT + SIDE / 2, TOP + SIDE + 38, "published", tint=SOFT, end="middle"))
    parts.append(text_shape(LEFT, TOP - 8, "predicted", tint=SOFT))
    title = f"{len(shown)} cases, predicted against published; the outer lines are 25 % off"
    return _drawing(TOP + SIDE + 50, parts, title)


def _drawing(height: float, parts: Sequence[str], title: str) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT}>'
    return f"{head}<title>{title}</title>{''.join(parts)}</svg>"
