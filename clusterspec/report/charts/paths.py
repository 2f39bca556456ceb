"""A drawing of a path between two accelerators: a numbered hop in each row, its latency, and the rate of each link."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.svg import LinearAxis
from clusterspec.standard import sum_of


@dataclass(frozen=True)
class DrawnHop:
    """A part on the path: the ``seconds`` that it adds (None if unknown), these as text, the total up to it as text,
    and a remark. ``rate`` is the rate of the link into the part; None for the first part, and if that link has no rate
    of its own.
    """

    label: str
    seconds: float | None
    added: str
    so_far: str
    remark: str = ""
    rate: float | None = None
    rate_text: str = ""
    narrowest: bool = False


PITCH = 46.0
TOP = 34.0
LEFT = 14.0
BARS = 236.0
"""The distance of two hops, the first one, the middle of the numbers, and the start of the bars."""


def path_chart(hops: Sequence[DrawnHop], alt: str) -> str:
    """The hops from the top down. A link is drawn wider the higher its rate; the slowest link is marked by color and
    words. Bars show the time since the start, with the time that the hop adds as their dark end.
    """
    whole = sum_of(hop.seconds or 0.0 for hop in hops)
    axis = LinearAxis(0.0, whole or 1.0, BARS, svg.WIDTH - 62)
    parts = [
        svg.text_shape(axis.start, 13, "time since the start", size=11, tint="soft"),
        svg.text_shape(svg.WIDTH, 13, "added", size=11, tint="soft", end="end"),
    ]
    known = [hop.rate for hop in hops if hop.rate]
    at = 0.0
    for number, hop in enumerate(hops):
        y = TOP + PITCH * number
        if number:
            parts += _link_shapes(hop, known, y - PITCH)
        parts += _bar_shapes(hop, axis, at, y)
        at += hop.seconds or 0.0
        most = axis.start - LEFT - 28
        parts.append(svg.text_shape(LEFT + 20, y + 4.5, svg.fitted_text(hop.label, most, 13, bold=True), bold=True))
    for number, _ in enumerate(hops):
        y = TOP + PITCH * number
        parts.append(svg.dot(LEFT, y, "memory", radius=11))
        parts.append(svg.text_shape(LEFT, y + 4, f"{number + 1}", size=11, tint="paper", end="middle", bold=True))
    return svg.drawing(TOP + PITCH * (len(hops) - 1) + 22, parts, alt, name="path")


def _link_shapes(hop: DrawnHop, known: Sequence[float], top: float) -> list[str]:
    """The link into a hop from the hop at ``top``, with its rate."""
    tint = "limit" if hop.narrowest else "other"
    wide = _link_width(hop.rate, known)
    parts = [svg.segment(LEFT, top + 11, LEFT, top + PITCH - 11, tint, width=wide, dash="" if hop.rate else "3 3")]
    if hop.rate_text:
        said = f"narrowest: {hop.rate_text}" if hop.narrowest else hop.rate_text
        look = "limit" if hop.narrowest else "soft"
        said = svg.fitted_text(said, BARS - LEFT - 26, 11, bold=hop.narrowest)
        parts.append(svg.text_shape(LEFT + 20, top + PITCH / 2 + 4, said, size=11, tint=look, bold=hop.narrowest))
    return parts


def _link_width(rate: float | None, known: Sequence[float]) -> float:
    """From 2 for the slowest link of a path to 9 for the fastest, by the logarithm of the rate."""
    if not rate or max(known) <= min(known):
        return 4.0 if rate else 1.5
    return 2.0 + 7.0 * log(rate / min(known)) / log(max(known) / min(known))


def _bar_shapes(hop: DrawnHop, axis: LinearAxis, at: float, y: float) -> list[str]:
    """The time up to a hop as a bar, and the time that the hop adds."""
    seconds = hop.seconds or 0.0
    parts = [svg.box(axis.start, y - 6, axis.end - axis.start, 12, "wash")]
    parts.append(svg.box(axis.start, y - 6, axis(at) - axis.start, 12, "backward"))
    parts.append(svg.box(axis(at), y - 6, axis(at + seconds) - axis(at), 12, "forward", title=hop.remark))
    parts.append(svg.text_shape(svg.WIDTH, y + 4.5, hop.added, size=11, end="end", bold=bool(seconds)))
    note = f"{hop.so_far}: {hop.remark}" if hop.remark else hop.so_far if hop.seconds else ""
    note = svg.fitted_text(note, svg.WIDTH - axis.start, 11)
    return [*parts, svg.text_shape(axis.start, y + 18, note, size=11, tint="soft")] if note else parts
