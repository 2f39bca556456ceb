"""SVG shapes as text, axes with ticks, and the color of each cause."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape

from clusterspec.records import NamedTuple, dataclass
from clusterspec.standard import sum_of

# Colors by cause, the same in all charts; adjacent parts of a stack alternate between dark and light


class Tint(NamedTuple):
    """A color on a light and on a dark page."""

    light: str
    dark: str


TINTS = {
    "ink": Tint("#1c2733", "#e8edf2"),
    "soft": Tint("#55626f", "#a9b4c0"),
    "line": Tint("#c3ccd5", "#46535f"),
    "paper": Tint("#ffffff", "#12181f"),
    "wash": Tint("#eef2f6", "#1e2730"),
    "limit": Tint("#b3261e", "#ff8a80"),
    "forward": Tint("#1d4e89", "#4f8fd6"),
    "backward": Tint("#8dbdec", "#b9d8f5"),
    "recomputation": Tint("#3b2f80", "#7d6fd0"),
    "tp": Tint("#f2b35e", "#f7cd93"),
    "cp": Tint("#8a4b08", "#c47f33"),
    "ep": Tint("#f5a8bf", "#f9c9d7"),
    "pp": Tint("#7a1f5c", "#c25fa0"),
    "bubble": Tint("#c9ced4", "#d7dbe0"),
    "dp": Tint("#1f6b4f", "#3fa27d"),
    "optimizer": Tint("#aadba4", "#c6e8c2"),
    "overhead": Tint("#4a5560", "#7e8b98"),
    "stragglers": Tint("#dccfb2", "#e9dfca"),
    "weights": Tint("#4c2a7a", "#9673cb"),
    "gradients": Tint("#cdb2ea", "#dfcdf2"),
    "activations": Tint("#8c2d04", "#cf6a3c"),
    "other": Tint("#4a5560", "#7e8b98"),
    "memory": Tint("#26323f", "#93a3b3"),
    "scale-up": Tint("#0f6e68", "#43b5ad"),
    "scale-out": Tint("#a34a14", "#e08a55"),
    "capital": Tint("#1d4e89", "#4f8fd6"),
    "energy": Tint("#f2b35e", "#f7cd93"),
    "support": Tint("#1f6b4f", "#3fa27d"),
    "racks": Tint("#cdb2ea", "#dfcdf2"),
    "rent": Tint("#8a4b08", "#c47f33"),
    "good": Tint("#17633f", "#6fd3a2"),
    "fair": Tint("#8a5300", "#f0b95b"),
    "bad": Tint("#b3261e", "#ff8a80"),
}
HEAT = ("#dbe9f6", "#b4d2ee", "#84b4e0", "#3a76b5", "#1d5a9c")
"""Steps of a heat map, from the least to the most; text on the last two is white."""
CAUSES = {
    "forward": "forward",
    "backward": "backward",
    "recomputation": "recomputation",
    "tensor-parallel traffic": "tp",
    "context-parallel traffic": "cp",
    "expert-parallel traffic": "ep",
    "pipeline sends": "pp",
    "pipeline bubble": "bubble",
    "data-parallel traffic": "dp",
    "optimizer": "optimizer",
    "data loading": "overhead",
    "step overhead": "overhead",
    "stragglers": "stragglers",
    "cache": "activations",
}
"""The cause behind each part of a step, by the name of its term."""
AXES = {
    "expert_tp": "tp",
    "dp_cp": "dp",
    "expert_dp": "dp",
    "shard": "dp",
    "replicate": "dp",
    "ddp": "dp",
    "fsdp": "weights",
    "hsdp": "gradients",
}
"""The cause whose color an axis without its own color takes."""


def cause_of(name: str) -> str:
    """The cause of a term, an axis or a part of a cost; ``overhead`` by default.

    >>> cause_of("pipeline bubble"), cause_of("dp_cp"), cause_of("energy"), cause_of("something")
    ('bubble', 'dp', 'energy', 'overhead')
    """
    plain = name.replace("_", " ").lower()
    spaced = {**{key.replace("-", " "): cause for key, cause in CAUSES.items()}, **CAUSES}
    found = spaced.get(plain) or AXES.get(name) or name
    return found if found in TINTS else "overhead"


def chart_style() -> str:
    """CSS that colors the shapes of all charts, on light and on dark pages."""
    return f"{_color_variables('light')}@media screen and (prefers-color-scheme:dark){{{_color_variables('dark')}}}"


def _color_variables(page: str) -> str:
    """The colors of a light or dark page, as CSS variables (`--c-memory`) and as classes."""
    colors = {name: getattr(tint, page) for name, tint in TINTS.items()}
    variables = "".join(f"--c-{name}:{color};" for name, color in colors.items())
    classes = "".join(f".c-{name}{{fill:{color}}}.s-{name}{{stroke:{color}}}" for name, color in colors.items())
    return f":root{{{variables}}}{classes}"


WIDTH = 440.0
FONT = 'font-family="Inter, sans-serif"'


def color(name: str) -> str:
    """The color of a cause on a light page; an explicit color is returned unchanged."""
    return TINTS[name].light if name in TINTS else name


def _fill_attribute(name: str) -> str:
    styled = f' class="c-{name}"' if name in TINTS else ""
    return f'fill="{color(name)}"{styled}'


def _stroke_attribute(name: str, width: float) -> str:
    styled = f' class="s-{name}"' if name in TINTS else ""
    return f'stroke="{color(name)}" stroke-width="{width:g}"{styled}'


# Widths of texts in the font of reports

_WIDTHS = {
    False: (
        "281 278 403 631 638 812 639 222 362 362 500 659 280 460 276 357 625 464 605 636 642 608 624 571 616 624 276 "
        "280 659 659 659 507 936 676 651 727 719 598 587 743 740 264 543 652 562 889 753 761 635 761 639 638 642 741 "
        "676 949 642 665 625 362 357 362 469 452 497 564 621 558 621 582 361 609 591 237 237 544 237 869 585 597 609 "
        "609 372 523 364 581 557 812 540 557 541 362 327 362 659 "
    ),
    True: (
        "248 309 396 643 649 844 663 213 393 393 543 673 295 466 290 379 667 481 621 652 666 632 648 587 646 648 290 "
        "295 673 673 673 544 999 724 657 744 724 608 586 755 744 275 561 677 566 906 741 775 643 776 651 649 660 734 "
        "724 1007 690 705 653 393 379 393 481 468 497 575 630 577 630 593 377 625 613 261 261 569 261 898 610 608 625 "
        "625 397 549 380 608 576 837 562 576 562 393 358 393 673 "
    ),
}
"""The advance widths of Inter 4.0, regular and semibold (`templates/fonts`), in thousandths of the size, from the space
to the tilde."""
_WIDE = 660.0
"""Thousandths of the size of × − µ in Inter; arrows, the ellipsis and Chinese characters have 820 to 1000."""


@cache
def _glyph_advances(bold: bool) -> tuple[int, ...]:
    return tuple(map(int, _WIDTHS[bold].split()))


def text_width(content: str, size: float, *, bold: bool = False) -> float:
    """The width of a text in units of the drawing, without kerning.

    >>> text_width("0 GB", 10.0), text_width("0 GB", 10.0, bold=True)
    (23.0, 23.27)
    """
    found, content = _glyph_advances(bold), content.replace("\xa0", " ")
    total = sum_of(
        found[ord(char) - 32] if " " <= char <= "~" else _WIDE if ord(char) < 0x2020 or char == "−" else 1000.0
        for char in content
    )
    return total * size / 1000


def fitted_text(content: str, most: float, size: float, *, bold: bool = False) -> str:
    """The text, shortened until it is at most ``most`` wide.

    >>> fitted_text("device memory", 100.0, 10.0), fitted_text("device memory", 50.0, 10.0)
    ('device memory', 'device…')
    """
    if text_width(content, size, bold=bold) <= most:
        return content
    kept = content
    while kept and text_width(f"{kept}…", size, bold=bold) > most:
        kept = kept[:-1].rstrip()
    return f"{kept}…"


def text_shape(
    x: float, y: float, content: str, *, size: float = 13, tint: str = "ink", end: str = "start", bold: bool = False
) -> str:
    """One line of text on its baseline; ``end`` is ``start``, ``middle`` or ``end``."""
    weight = ' font-weight="600"' if bold else ""
    look = f'font-size="{size:g}" {_fill_attribute(tint)} text-anchor="{end}"{weight}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(content)}</text>'


def fitted_label(label: str, note: str) -> str:
    """A bold label of 13 units, shortened so that a note of 12 units fits at the end of its line. Words in parentheses
    are dropped first.

    >>> fitted_label("device memory", "8 accelerators"), len(fitted_label("n" * 99, "8 accelerators"))
    ('device memory', 40)
    >>> fitted_label("scale-up (Infinity Fabric (xGMI) of MI350X and MI355X)", "8 accelerators")
    'scale-up'
    """
    most = WIDTH - 30 - text_width(note, 12)
    if text_width(label, 13, bold=True) > most:
        label = label.partition(" (")[0]
    return fitted_text(label, most, 13, bold=True)


def box(x: float, y: float, width: float, height: float, tint: str, *, radius: float = 1, title: str = "") -> str:
    """A filled rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" rx="{radius:g}"'
    inside = f"<title>{escape(title)}</title>" if title else ""
    return (
        f"<rect {shape} {_fill_attribute(tint)}>{inside}</rect>"
        if inside
        else f"<rect {shape} {_fill_attribute(tint)}/>"
    )


def frame(x: float, y: float, width: float, height: float, tint: str, *, stroke: float = 2) -> str:
    """The outline of a rectangle."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {shape} fill="none" {_stroke_attribute(tint, stroke)}/>'


def segment(x1: float, y1: float, x2: float, y2: float, tint: str = "line", *, width: float = 1, dash: str = "") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f"<line {ends} {_stroke_attribute(tint, width)}{dashed}/>"


def dot(x: float, y: float, tint: str, *, radius: float = 5, hollow: bool = False) -> str:
    """A filled or a hollow circle."""
    where = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'
    return (
        f'<circle {where} fill="none" {_stroke_attribute(tint, 2)}/>'
        if hollow
        else f"<circle {where} {_fill_attribute(tint)}/>"
    )


def polygon(points: Iterable[tuple[float, float]], tint: str, *, opacity: float = 1.0, title: str = "") -> str:
    """A filled polygon."""
    pairs = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    shade = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    shape = f'<polygon points="{pairs}" {_fill_attribute(tint)}{shade}'
    return f"{shape}><title>{escape(title)}</title></polygon>" if title else f"{shape}/>"


def diamond(x: float, y: float, tint: str, *, radius: float = 6) -> str:
    return polygon([(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)], tint)


def curve(points: Iterable[tuple[float, float]], tint: str, *, width: float = 2) -> str:
    """A line through points."""
    pairs = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{pairs}" fill="none" {_stroke_attribute(tint, width)}/>'


def filled_path(path: str, tint: str) -> str:
    """A filled path."""
    return f'<path d="{path}" {_fill_attribute(tint)}/>'


def hatch(x: float, y: float, width: float, height: float, tint: str = "ink", *, step: float = 7) -> str:
    """Diagonal lines across a rectangle, readable without color."""
    parts = []
    offset = step
    while offset < width + height:
        x1, y1 = x + max(0.0, offset - height), y + min(offset, height)
        x2, y2 = x + min(offset, width), y + max(0.0, offset - width)
        parts.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
        offset += step
    return f'<path d="{"".join(parts)}" fill="none" {_stroke_attribute(tint, 1)}/>'


def drawing(height: float, parts: Iterable[str], alt: str, *, name: str = "") -> str:
    """An SVG image of shapes; ``alt`` is its text alternative, also in a tagged PDF."""
    size = f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}" height="{height:.0f}"'
    identity = f' data-chart="{escape(name)}"' if name else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}" {FONT}{identity}>'
    return f"{head}<title>{escape(alt)}</title>{''.join(parts)}</svg>"


# Axes: conversion of values to coordinates, with labeled ticks


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from ``low`` to ``high``, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def axis_of_decades(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Whole decades around the values; at least one."""
        found = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
        low = 10.0 ** math.floor(math.log10(min(found)) + 1e-9)
        high = 10.0 ** math.ceil(math.log10(max(found)) - 1e-9)
        return cls(low, max(high, 10 * low), start, end)

    def __call__(self, value: float) -> float:
        share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        return self.start + (self.end - self.start) * min(1.0, share)

    @property
    def ticks(self) -> list[float]:
        decades = round(math.log10(self.high / self.low))
        step = max(1, math.ceil(decades / 6))
        return [self.low * 10.0**power for power in range(0, decades + 1, step)]


@dataclass(frozen=True)
class LinearAxis:
    """A linear axis from ``low`` to ``high``, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> list[float]:
        """About five round values."""
        span = (self.high - self.low) or 1.0
        raw = span / 4
        base = 10.0 ** math.floor(math.log10(raw))
        step = next(base * factor for factor in (1, 2, 2.5, 5, 10) if base * factor >= raw * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9) * step
        count = int((self.high - first) / step + 1e-9) + 1
        return [first + step * number for number in range(count)]


Axis = LogAxis | LinearAxis


def horizontal_grid(
    axis: Axis,
    top: float,
    bottom: float,
    label: Callable[[float], str],
    lanes: Sequence[tuple[float, float]] = (),
) -> list[str]:
    """Grid lines at the ticks of a horizontal axis, labeled below; only inside ``lanes`` where text is between them."""
    parts = []
    for number, tick in enumerate(ticks := axis.ticks):
        x = axis(tick)
        end = "start" if number == 0 else "end" if number == len(ticks) - 1 and x > WIDTH - 30 else "middle"
        parts += [segment(x, high, x, low) for high, low in lanes or ((top, bottom),)]
        parts.append(text_shape(x, bottom + 15, label(tick), size=11, tint="soft", end=end))
    return parts


def vertical_grid(axis: Axis, left: float, right: float, label: Callable[[float], str]) -> list[str]:
    """Grid lines at the ticks of a vertical axis, labeled at the left."""
    parts = []
    for tick in axis.ticks:
        y = axis(tick)
        parts.append(segment(left, y, right, y))
        parts.append(text_shape(left - 6, y + 4, label(tick), size=11, tint="soft", end="end"))
    return parts
