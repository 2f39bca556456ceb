"""Drawings as SVG text: the same in a browser and on paper, no scripts, no outside files.

Sizes are in the drawing's own units (a page is 720 wide). Text is escaped here; callers pass
plain strings and SI numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720
INK, SOFT, LINE, PAPER = "#1c2733", "#5d6b7a", "#d5dce4", "#eef2f6"
PALETTE = ("#1f5fa8", "#2a9d8f", "#e0a030", "#c8553d", "#7a5ea8", "#6b8e3d", "#4aa3c7", "#a0687a", "#8a8f98")
FONT = 'font-family="Liberation Sans, Helvetica, Arial, sans-serif"'


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its length, and the figure printed beside it."""

    label: str
    value: float
    said: str
    color: str = PALETTE[0]


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a stack."""

    label: str
    value: float
    said: str


def text(
    x: float, y: float, said: str, *, size: float = 12, color: str = INK, end: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    look = f'font-size="{size:g}" fill="{color}" text-anchor="{end}"{weight}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(said)}</text>'


def box(x: float, y: float, width: float, height: float, *, color: str, radius: float = 2) -> str:
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" rx="{radius:g}"'
    return f'<rect {shape} fill="{color}"/>'


def line(x1: float, y1: float, x2: float, y2: float, *, color: str = LINE, width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:g}"/>'


def drawing(height: float, parts: Sequence[str], said: str) -> str:
    """The parts in one picture; ``said`` is read aloud in its place."""
    size = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT}>'
    return f"{head}<title>{escape(said)}</title>{''.join(parts)}</svg>"


def bars(rows: Sequence[Bar], said: str, *, logarithmic: bool = False) -> str:
    """Horizontal bars; on a logarithmic scale decades are ruled, since a bar's length is then no ratio."""
    left, right, step, top = 190, 130, 30, 8
    room = WIDTH - left - right
    largest = max(row.value for row in rows)
    floor = 10 ** (math.floor(math.log10(min(row.value for row in rows if row.value > 0))) - (1 if logarithmic else 0))

    def length(value: float) -> float:
        if not logarithmic:
            return room * value / largest
        return room * max(0.0, math.log10(value / floor)) / math.log10(largest / floor) if value > 0 else 0.0

    height = top + step * len(rows) + (20 if logarithmic else 6)
    parts: list[str] = []
    if logarithmic:
        decade = floor * 10
        while decade <= largest:
            parts.append(line(left + length(decade), top, left + length(decade), height - 16))
            decade *= 10
        parts.append(text(left, height - 3, "logarithmic scale: each rule is a factor of ten", size=10, color=SOFT))
    for number, row in enumerate(rows):
        y = top + step * number
        parts.append(text(left - 10, y + 17, row.label, end="end"))
        parts.append(box(left, y + 4, max(1.5, length(row.value)), step - 11, color=row.color))
        parts.append(text(left + length(row.value) + 8, y + 17, row.said, bold=True))
    return drawing(height, parts, said)


def stack(slices: Sequence[Slice], said: str, *, capacity: float | None = None, capacity_said: str = "") -> str:
    """One bar cut into parts, with a legend; ``capacity`` draws how much room there is."""
    shown = [(part, PALETTE[number % len(PALETTE)]) for number, part in enumerate(slices) if part.value > 0]
    total = sum(part.value for part, _ in shown) or 1.0
    whole = max(total, capacity or 0.0)
    x, top, tall = 0.0, 20.0, 34.0
    parts = [box(0, top, WIDTH * (capacity or total) / whole, tall, color=PAPER, radius=3)]
    for part, color in shown:
        width = WIDTH * part.value / whole
        parts.append(box(x, top, width - (1 if width > 3 else 0), tall, color=color))
        share = f"{100 * part.value / total:.0f} %"
        if width > 44:
            parts.append(text(x + width / 2, top + 21, share, color="#ffffff", end="middle", bold=True))
        x += width
    if capacity is not None:
        edge = WIDTH * capacity / whole
        parts.append(line(edge, top - 6, edge, top + tall + 6, color="#b3261e", width=2))
        parts.append(text(min(edge, WIDTH) - 6, top - 7, capacity_said, size=11, color="#b3261e", end="end"))
    legend, height = _legend(shown, top + tall + 24)
    return drawing(height, parts + legend, said)


def _legend(shown: Sequence[tuple[Slice, str]], top: float) -> tuple[list[str], float]:
    parts: list[str] = []
    columns = 2
    for number, (part, color) in enumerate(shown):
        x = (number % columns) * WIDTH / columns
        y = top + 22 * (number // columns)
        parts.append(box(x, y - 10, 11, 11, color=color))
        parts.append(text(x + 18, y, part.label))
        parts.append(text(x + WIDTH / columns - 24, y, part.said, end="end", bold=True))
    return parts, top + 22 * ((len(shown) + columns - 1) // columns) - 8


MOST_DRAWN = 10


@dataclass(frozen=True, slots=True)
class Row:
    """One level of a fabric drawing: how many boxes there are, and what stands beside them."""

    label: str
    count: int
    said: str
    color: str


def levels(rows: Sequence[Row], said: str) -> str:
    """A fabric from the top level down; boxes stand for switches or nodes, of many only a few are drawn."""
    left, step, tall, top = 200, 74, 24, 10
    room = WIDTH - left
    parts: list[str] = []
    centers: list[list[float]] = []
    for number, row in enumerate(rows):
        drawn = min(row.count, MOST_DRAWN)
        gap = room / drawn
        width = min(46.0, gap - 8)
        y = top + step * number
        xs = [left + gap * k + (gap - width) / 2 for k in range(drawn)]
        centers.append([x + width / 2 for x in xs])
        parts += [box(x, y, width, tall, color=row.color, radius=4) for x in xs]
        parts.append(text(0, y + 10, f"{row.count:,} {row.label}", bold=True))
        notes = [row.said] if row.said else []
        notes += [f"{drawn} drawn"] if row.count > drawn else []
        parts += [text(0, y + 25 + 13 * k, note, size=10.5, color=SOFT) for k, note in enumerate(notes)]
    links = [
        line(a, top + step * number + tall, b, top + step * (number + 1), color="#c9d3dd", width=0.6)
        for number in range(len(rows) - 1)
        for a in centers[number]
        for b in centers[number + 1]
    ]
    return drawing(top + step * (len(rows) - 1) + tall + 22, links + parts, said)
