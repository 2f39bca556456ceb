"""Curves and tornado charts: goodput over the checkpoint interval, and sensitivities."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.axes import LinearAxis, LogAxis, horizontal, vertical
from clusterspec.units import display, percent


def goodput(curve: Sequence[tuple[float, float]], planned: tuple[float, float], alt: str) -> str:
    """Goodput over the checkpoint interval in seconds, with the planned interval marked."""
    seconds = [interval for interval, _ in curve]
    lowest = min([share for _, share in curve] + [planned[1]])
    top, bottom = 16.0, 210.0
    x = LogAxis(min(seconds), max(seconds), 62, svg.WIDTH - 14)
    y = LinearAxis(max(0.0, lowest - 0.02), 1.0, bottom, top)
    parts = vertical(y, x.start, x.end, percent)
    marks = [curve[0][0], planned[0], curve[-1][0]]
    parts += [
        svg.text(x(mark), bottom + 16, display(mark, "s"), size=11, tint="soft", end=end)
        for mark, end in zip(marks, ("start", "middle", "end"), strict=True)
    ]
    parts.append(svg.line(x(planned[0]), top, x(planned[0]), bottom, "line", dash="4 3"))
    parts.append(svg.curve([(x(interval), y(share)) for interval, share in curve], "dp", width=3))
    parts.append(svg.dot(x(planned[0]), y(planned[1]), "limit", radius=6))
    label = f"planned: {display(planned[0], 's')}, {percent(planned[1])}"
    parts.append(svg.text(x(planned[0]), y(planned[1]) + 24, label, end="middle", bold=True))
    parts.append(svg.text(x.end, bottom + 34, "interval between checkpoints", size=12, tint="soft", end="end"))
    return svg.drawing(bottom + 44, parts, alt, name="goodput")


@dataclass(frozen=True, slots=True)
class LeverBar:
    """A bar of a tornado chart: an assumption or key, and the relative change of another value."""

    label: str
    against: str
    change: float
    value_text: str


def tornado(levers: Sequence[LeverBar], alt: str, tint: str = "forward") -> str:
    """Relative changes, largest first; a bar beyond 100 % is truncated with an arrow."""
    most = min(1.0, max((abs(lever.change) for lever in levers), default=1.0)) or 1.0
    axis = LinearAxis(-most, most, 8, svg.WIDTH - 8)
    step, top = 42.0, 8.0
    bottom = top + step * len(levers)
    lanes = [(top + step * number + 19, top + step * number + 36) for number in range(len(levers))]
    parts = horizontal(axis, top, bottom, _signed, lanes)
    for number, lever in enumerate(levers):
        y = top + step * number
        parts.append(svg.text(8, y + 15, svg.fitted(lever.label, lever.against), bold=True))
        parts.append(svg.text(svg.WIDTH - 8, y + 15, lever.against, size=12, tint="soft", end="end"))
        near, far = sorted((axis(0.0), axis(max(-most, min(most, lever.change)))))
        parts.append(svg.box(near, y + 21, max(far - near, 1.5), 13, tint))
        cut = abs(lever.change) > most
        place = (far + 5, "start") if lever.change >= 0 else (near - 5, "end")
        if far - near > (axis.end - axis.start) * 0.42:
            inside = (far - 5, "end") if lever.change >= 0 else (near + 5, "start")
            parts.append(
                svg.text(
                    inside[0], y + 32, lever.value_text + (" →" if cut else ""), size=11, tint="paper", end=inside[1]
                )
            )
        else:
            parts.append(svg.text(place[0], y + 32, lever.value_text, size=11, end=place[1]))
        parts.append(svg.line(axis(0.0), y + 19, axis(0.0), y + 36, "ink"))
    return svg.drawing(bottom + 22, parts, alt, name="tornado")


def _signed(share: float) -> str:
    if abs(share) < 1e-9:
        return "0"
    return ("+" if share > 0 else "−") + percent(abs(share), 2)
