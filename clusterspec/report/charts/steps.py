"""Drawings of a step: the pipeline schedule by stage and micro-batch, and the passes over one layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clusterspec.records import NamedTuple, dataclass
from clusterspec.report.charts import svg
from clusterspec.report.charts.bars import StackPart, lane_shapes, legend_shapes
from clusterspec.report.charts.svg import LinearAxis, horizontal_grid
from clusterspec.standard import sum_of

Label = Callable[[float], str]


class Span(NamedTuple):
    """A time from ``start`` to ``end`` on a row."""

    row: int
    start: float
    end: float


def bars_path(spans: Iterable[Span], axis: LinearAxis, top: float, pitch: float, tint: str) -> str:
    """Bars of one color as a single path; a narrow gap separates adjacent bars."""
    parts = []
    for row, start, end in spans:
        x, wide = axis(start), axis(end) - axis(start)
        inner = max(wide - 0.35, 0.3 * wide)
        parts.append(f"M{x:.2f} {top + pitch * row + 1:.1f}h{inner:.2f}v{pitch - 2:.1f}h-{inner:.2f}z")
    return svg.filled_path("".join(parts), tint)


def schedule_chart(
    rows: Sequence[str], kinds: Sequence[tuple[str, str, Sequence[Span]]], label: Label, alt: str
) -> str:
    """Operations of each stage to scale; ``kinds`` are the name, tint and spans of each kind of operation.

    Time without a bar is idle.
    """
    end = max(span.end for _, _, spans in kinds for span in spans)
    axis = LinearAxis(0.0, end, 62, svg.WIDTH - 2)
    pitch = min(18.0, max(5.0, 230.0 / len(rows)))
    top = 4.0
    bottom = top + pitch * len(rows)
    parts = [svg.box(axis.start, top, axis.end - axis.start, bottom - top, "bubble")]
    parts += [bars_path(spans, axis, top, pitch, tint) for _, tint, spans in kinds]
    every = max(1, round(11.0 / pitch + 0.4))
    parts += [
        svg.text_shape(56, top + pitch * (number + 0.5) + 4, name, size=11, end="end")
        for number, name in enumerate(rows)
        if number % every == 0
    ]
    parts += horizontal_grid(axis, bottom, bottom + 5, label)
    x = 0.0
    for name, tint in [*((name, tint) for name, tint, _ in kinds), ("idle", "bubble")]:
        parts += [svg.box(x, bottom + 32, 12, 12, tint), svg.text_shape(x + 17, bottom + 42, name, size=12)]
        x += 32 + 6.6 * len(name)
    return svg.drawing(bottom + 50, parts, alt, name="schedule")


@dataclass(frozen=True)
class DrawnPass:
    """One pass over a layer: kernels in order, then exposed communication, with the links below.

    ``links`` are seconds on the wire and the exposed ones among them, by axis.
    """

    title: str
    device: tuple[StackPart, ...]
    exposed: tuple[StackPart, ...]
    links: tuple[tuple[StackPart, float], ...]


def layer_chart(passes: Sequence[DrawnPass], label: Label, alt: str) -> str:
    """The passes over one layer on one time axis, with communication below the kernels that it overlaps with, and its
    exposed end hatched.

    The position of communication inside the layer is schematic; its length is to scale.
    """
    most = max(_pass_seconds(one) for one in passes)
    axis = LinearAxis(0.0, most or 1.0, 0, svg.WIDTH - 2)
    parts: list[str] = []
    y = 14.0
    for one in passes:
        parts.append(svg.text_shape(0, y, one.title, size=12, bold=True))
        parts += lane_shapes([*one.device, *one.exposed], axis, y + 6, 20)
        at = sum_of(part.value for part in one.device)
        for part in one.exposed:
            parts.append(svg.hatch(axis(at), y + 6, axis(at + part.value) - axis(at) - 1, 20, "paper", step=5))
            at += part.value
        shapes, y = _wire_shapes(one, axis, y + 30)
        parts += shapes
        y += 18
    parts += horizontal_grid(axis, y - 12, y - 7, label)
    shown, end = legend_shapes(_merged_parts(passes, label), y + 32)
    return svg.drawing(end, parts + shown, alt, name="layer")


def _pass_seconds(drawn: DrawnPass) -> float:
    computing = sum_of(part.value for part in (*drawn.device, *drawn.exposed))
    return max([computing, *(part.value for part, _ in drawn.links)])


def _wire_shapes(drawn: DrawnPass, axis: LinearAxis, top: float) -> tuple[list[str], float]:
    """A thin row for each axis: the hidden part ends where the device ends, the exposed part follows."""
    parts: list[str] = []
    at = sum_of(part.value for part in drawn.device)
    for number, (part, exposed) in enumerate(drawn.links):
        y, start = top + 10 * number, max(0.0, at - max(0.0, part.value - exposed))
        wide = axis(min(axis.high, start + part.value)) - axis(start)
        parts.append(svg.box(axis(start), y, wide, 8, part.tint, title=f"{part.label} on the wire: {part.value_text}"))
        at += exposed
    return parts, top + 10 * len(drawn.links)


def _merged_parts(passes: Sequence[DrawnPass], label: Label) -> list[StackPart]:
    """One entry of the legend for each name, with the sum of all passes."""
    found: dict[str, StackPart] = {}
    for part in (part for one in passes for part in (*one.device, *one.exposed)):
        whole = part.value + (found[part.label].value if part.label in found else 0.0)
        found[part.label] = StackPart(part.label, part.tint, whole, label(whole))
    return list(found.values())
