"""SVG shapes of charts, as text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from clusterspec.report.charts.palette import TINTS

WIDTH = 440.0
FONT = 'font-family="Inter, sans-serif"'


def color(name: str) -> str:
    """The color of a cause on a light page; an explicit color is returned unchanged."""
    return TINTS[name].light if name in TINTS else name


def _fill(name: str) -> str:
    styled = f' class="c-{name}"' if name in TINTS else ""
    return f'fill="{color(name)}"{styled}'


def _stroke(name: str, width: float) -> str:
    styled = f' class="s-{name}"' if name in TINTS else ""
    return f'stroke="{color(name)}" stroke-width="{width:g}"{styled}'


def text(
    x: float, y: float, content: str, *, size: float = 13, tint: str = "ink", end: str = "start", bold: bool = False
) -> str:
    """One line of text on its baseline; ``end`` is ``start``, ``middle`` or ``end``."""
    weight = ' font-weight="600"' if bold else ""
    look = f'font-size="{size:g}" {_fill(tint)} text-anchor="{end}"{weight}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(content)}</text>'


def fitted(label: str, note: str) -> str:
    """A bold label of 13 units that leaves space for a note at the end of the same line; cut where it is too long.

    >>> fitted("device memory", "8 accelerators"), len(fitted("n" * 99, "8 accelerators"))
    ('device memory', 42)
    """
    most = int((WIDTH - 28 - 6.6 * len(note)) / 7.6)
    return label if len(label) <= most else f"{label[: most - 1].rstrip()}…"


def box(x: float, y: float, width: float, height: float, tint: str, *, radius: float = 1, title: str = "") -> str:
    """A filled rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" rx="{radius:g}"'
    inside = f"<title>{escape(title)}</title>" if title else ""
    return f"<rect {shape} {_fill(tint)}>{inside}</rect>" if inside else f"<rect {shape} {_fill(tint)}/>"


def frame(x: float, y: float, width: float, height: float, tint: str, *, stroke: float = 2) -> str:
    """The outline of a rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {shape} fill="none" {_stroke(tint, stroke)}/>'


def line(x1: float, y1: float, x2: float, y2: float, tint: str = "line", *, width: float = 1, dash: str = "") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f"<line {ends} {_stroke(tint, width)}{dashed}/>"


def dot(x: float, y: float, tint: str, *, radius: float = 5, hollow: bool = False) -> str:
    """A filled or a hollow circle."""
    where = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'
    return f'<circle {where} fill="none" {_stroke(tint, 2)}/>' if hollow else f"<circle {where} {_fill(tint)}/>"


def diamond(x: float, y: float, tint: str, *, radius: float = 6) -> str:
    points = f"{x - radius:.1f},{y:.1f} {x:.1f},{y - radius:.1f} {x + radius:.1f},{y:.1f} {x:.1f},{y + radius:.1f}"
    return f'<polygon points="{points}" {_fill(tint)}/>'


def curve(points: Iterable[tuple[float, float]], tint: str, *, width: float = 2) -> str:
    """A line through points."""
    pairs = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{pairs}" fill="none" {_stroke(tint, width)}/>'


def squares(places: Iterable[tuple[float, float]], side: float, tint: str) -> str:
    """Many small squares in one path."""
    path = "".join(f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z" for x, y in places)
    return f'<path d="{path}" {_fill(tint)}/>'


def hatch(x: float, y: float, width: float, height: float, tint: str = "ink", *, step: float = 7) -> str:
    """Diagonal lines across a rectangle, readable without color."""
    parts = []
    offset = step
    while offset < width + height:
        x1, y1 = x + max(0.0, offset - height), y + min(offset, height)
        x2, y2 = x + min(offset, width), y + max(0.0, offset - width)
        parts.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
        offset += step
    return f'<path d="{"".join(parts)}" fill="none" {_stroke(tint, 1)}/>'


def drawing(height: float, parts: Iterable[str], alt: str, *, name: str = "") -> str:
    """An SVG image of shapes; ``alt`` is its text alternative."""
    size = f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}" height="{height:.0f}"'
    identity = f' data-chart="{escape(name)}"' if name else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}" {FONT}{identity}>'
    return f"{head}{''.join(parts)}</svg>"
