"""Charts on axes: goodput, tornado and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clusterspec.records import dataclass
from clusterspec.report.charts import labels, svg
from clusterspec.report.charts.log_plots import separated_marks
from clusterspec.report.charts.svg import LinearAxis, LogAxis, vertical_grid
from clusterspec.units import display, percent

# Curves and tornado charts: goodput over the checkpoint interval, and sensitivities


def goodput_chart(curve: Sequence[tuple[float, float]], planned: tuple[float, float], alt: str) -> str:
    """Goodput over the checkpoint interval in seconds, with the planned interval marked."""
    seconds = [interval for interval, _ in curve]
    lowest = min([share for _, share in curve] + [planned[1]])
    top, bottom = 36.0, 186.0
    x = LogAxis(min(seconds), max(seconds), 62, svg.WIDTH - 14)
    y = LinearAxis(max(0.0, lowest - 0.02), 1.0, bottom, top)
    parts = vertical_grid(y, x.start, x.end, percent)
    marks = [curve[0][0], planned[0], curve[-1][0]]
    parts += [
        svg.text_shape(x(mark), bottom + 16, display(mark, "s"), size=11, tint="soft", end=end)
        for mark, end in zip(marks, ("start", "middle", "end"), strict=True)
    ]
    parts.append(svg.segment(x(planned[0]), top, x(planned[0]), bottom, "line", dash="4 3"))
    parts.append(svg.curve([(x(interval), y(share)) for interval, share in curve], "dp", width=3))
    parts.append(svg.dot(x(planned[0]), y(planned[1]), "limit", radius=6))
    label = f"planned: {display(planned[0], 's')}, {percent(planned[1])}"
    parts += [svg.dot(x.start + 6, 10, "limit", radius=6), svg.text_shape(x.start + 18, 14, label, bold=True)]
    parts.append(svg.text_shape(x.end, bottom + 34, "interval between checkpoints", size=12, tint="soft", end="end"))
    return svg.drawing(bottom + 44, parts, alt, name="goodput")


@dataclass(frozen=True)
class LeverBar:
    """A bar of a tornado chart: an assumption or key, and the relative change of another value."""

    label: str
    against: str
    change: float
    value_text: str


def tornado_chart(levers: Sequence[LeverBar], alt: str, tint: str = "forward") -> str:
    """Relative changes, largest first; a bar beyond 100 % is truncated with an arrow."""
    most = min(1.0, max((abs(lever.change) for lever in levers), default=1.0)) or 1.0
    axis = LinearAxis(-most, most, 8, svg.WIDTH - 8)
    step, top = 36.0, 8.0
    parts: list[str] = []
    for number, lever in enumerate(levers):
        y = top + step * number
        parts.append(svg.text_shape(8, y + 12, svg.fitted_label(lever.label, lever.against), bold=True))
        parts.append(svg.text_shape(svg.WIDTH - 8, y + 12, lever.against, size=12, tint="soft", end="end"))
        near, far = sorted((axis(0.0), axis(max(-most, min(most, lever.change)))))
        parts.append(svg.box(near, y + 17, max(far - near, 1.5), 13, tint))
        cut = abs(lever.change) > most
        place = (far + 5, "start") if lever.change >= 0 else (near - 5, "end")
        if far - near > (axis.end - axis.start) * 0.42:
            inside = (far - 5, "end") if lever.change >= 0 else (near + 5, "start")
            parts.append(
                svg.text_shape(
                    inside[0], y + 28, lever.value_text + (" →" if cut else ""), size=11, tint="paper", end=inside[1]
                )
            )
        else:
            parts.append(svg.text_shape(place[0], y + 28, lever.value_text, size=11, end=place[1]))
        parts.append(svg.segment(axis(0.0), y + 15, axis(0.0), y + 32, "ink"))
    return svg.drawing(top + step * len(levers), parts, alt, name="tornado")


@dataclass(frozen=True)
class ChoicePoint:
    """A machine by price and work. ``letter`` marks a design; other machines have a label. A line joins the machines of
    one ``series``: the design and its other sizes.
    """

    label: str
    price: tuple[float, float]
    work: float
    letter: str = ""
    tint: str = "soft"
    works: bool = True
    series: bool = True


def choice_chart(
    points: Sequence[ChoicePoint],
    heads: tuple[str, str],
    texts: tuple[Callable[[float], str], ...],
    alt: str,
    level: tuple[float, str] | None = None,
) -> str:
    """Machines by price (horizontal, with its range) and work (vertical); machines that do not work are hollow.

    A labeled dashed line marks the required ``level`` of work.
    """
    top, bottom = 30.0, 168.0
    prices = [end for point in points for end in point.price]
    works = [point.work for point in points]
    x = LinearAxis(0.0, 1.08 * max(prices), 62, svg.WIDTH - 26)
    y = LinearAxis(0.0, 1.1 * max([*works, level[0] if level else 0.0]), bottom, top)
    sizes = sorted((point for point in points if point.series), key=lambda point: sum(point.price))
    line = [(x(sum(point.price) / 2), y(point.work)) for point in sizes]
    at = y(level[0]) if level else None
    parts = [
        svg.text_shape(0, 14, heads[1], size=12, tint="soft"),
        *vertical_grid(y, x.start, x.end, texts[1]),
        *(_level_shapes(level[1], x, y(level[0])) if level else ()),
        svg.curve(line, "line"),
    ]
    ranked = sorted(points, key=lambda point: bool(point.letter))
    marks = [(x(sum(point.price) / 2), y(point.work)) for point in ranked]
    named = [(point.label, mark) for point, mark in zip(ranked, marks, strict=True) if not point.letter]
    spots = [*(mark for _, mark in named), *separated_marks(marks[len(named) :])]
    taken = [labels.mark_box(spot, 9.0 if point.letter else 4.0) for point, spot in zip(ranked, spots, strict=True)]
    if level is not None and at is not None:
        taken.append(labels.name_box(level[1], x.end - svg.text_width(level[1], labels.SIZE), at - 5))
    frame, rising = labels.Box(x.start, 18.0, svg.WIDTH - 2, bottom + 3), len(line) > 1 and line[-1][1] < line[0][1]
    places = labels.name_places(named, taken, line, frame, level=at, rising=rising)
    lowest = max([bottom, *(base + 2 for _, base in places)])
    for (label, mark), place in zip(named, places, strict=True):
        parts += _name_shapes(label, place, mark)
    for point, mark, spot in zip(ranked, marks, spots, strict=True):
        parts.append(svg.segment(x(point.price[0]), mark[1], x(point.price[1]), mark[1], point.tint, width=3))
        parts += [svg.segment(*mark, *spot, point.tint)] if spot != mark else []
        parts += _choice_shapes(point, spot)
    parts += [
        svg.text_shape(x(tick), lowest + 16, texts[0](tick), size=11, tint="soft", end="middle") for tick in x.ticks
    ]
    parts.append(svg.text_shape(x.end, lowest + 34, heads[0], size=12, tint="soft", end="end"))
    return svg.drawing(lowest + 42, parts, alt, name="choices")


def _level_shapes(name: str, x: LinearAxis, height: float) -> Iterator[str]:
    """The dashed line at a height, with its name above the right end."""
    yield svg.segment(x.start, height, x.end, height, "limit", width=1.5, dash="5 4")
    yield svg.text_shape(x.end, height - 5, name, size=11, tint="soft", end="end")


def _name_shapes(label: str, place: tuple[float, float], mark: tuple[float, float]) -> Iterator[str]:
    """The name of a point on a plate, joined to the point where it is not next to it."""
    if (joined := labels.leader_line(label, place, mark)) is not None:
        yield svg.segment(*joined[0], *joined[1], "line")
    left, base = place
    yield svg.box(left - 2, base - 10, svg.text_width(label, labels.SIZE) + 4, 13, "paper")
    yield svg.text_shape(left, base, label, size=labels.SIZE, tint="soft")


def _choice_shapes(point: ChoicePoint, mark: tuple[float, float]) -> Iterator[str]:
    middle, y = mark
    if not point.letter:
        yield svg.dot(middle, y, point.tint, radius=4, hollow=not point.works)
        return
    yield svg.dot(middle, y, point.tint if point.works else "paper", radius=9)
    if not point.works:
        yield svg.dot(middle, y, point.tint, radius=9, hollow=True)
    shown = "paper" if point.works else point.tint
    yield svg.text_shape(middle, y + 4.3, point.letter, size=12, tint=shown, end="middle", bold=True)
