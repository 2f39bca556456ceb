"""A drawing of a fleet: its pools as boxes of nodes, colored by job, and the links between pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from clusterspec.records import dataclass
from clusterspec.report import unbroken_numbers
from clusterspec.report.charts import svg
from clusterspec.report.charts.machine import LETTERS
from clusterspec.standard import sum_of
from clusterspec.units import plural


@dataclass(frozen=True)
class DrawnTurn:
    """A job that has nodes for a share of the time."""

    job: str
    tint: str
    share: float


@dataclass(frozen=True)
class DrawnNodes:
    """Adjacent nodes of a pool, with the jobs that take turns on them."""

    count: int
    turns: tuple[DrawnTurn, ...]
    label: str


@dataclass(frozen=True)
class DrawnPool:
    """A pool: its name, a description of its nodes, the nodes in physical order, and the number of spares."""

    name: str
    note: str
    runs: tuple[DrawnNodes, ...]
    spares: int = 0


@dataclass(frozen=True)
class DrawnLink:
    """A link between two pools (numbered from 0), with its rate and the traffic that it carries."""

    ends: tuple[int, int]
    label: str


SIDE = 14.0
"""The side of the box of a node, with its gap."""
MOST_CELLS = 96
"""Maximum number of boxes drawn for a pool; each box is one node, or 2, 4, 8 … nodes."""
LANE = 22.0
"""The width of the lane of a link, at the right of the pools."""


def nodes_of_box(pools: Sequence[DrawnPool]) -> int:
    """The nodes that one box stands for, the same in all pools: a power of two."""
    most = max((sum(run.count for run in pool.runs) + pool.spares for pool in pools), default=0)
    each = 1
    while most > each * MOST_CELLS:
        each *= 2
    return each


def fleet_chart(pools: Sequence[DrawnPool], links: Sequence[DrawnLink], alt: str) -> str:
    """The pools from the top down; links at the right, numbered, with their rates below."""
    each, right = nodes_of_box(pools), svg.WIDTH - LANE * len(links) - (6 if links else 0)
    parts, y, middles = [], 4.0, []
    for pool in pools:
        shapes, low = _pool_shapes(pool, each, y, right)
        parts += shapes
        middles.append((y + low) / 2)
        y = low + 12
    for number, link in enumerate(links):
        x = right + 4 + LANE * (number + 0.5)
        first, last = (middles[end] - 6 * number for end in link.ends)
        parts += _link_shapes(number + 1, (first, last), right, x)
    y += 10
    for number, line in enumerate(_legend_lines(pools, links, each)):
        parts.append(svg.text_shape(0, y, line, size=12, tint="ink" if number else "soft"))
        y += 17
    return svg.drawing(y - 6, parts, alt, name="fleet")


def _legend_lines(pools: Sequence[DrawnPool], links: Sequence[DrawnLink], nodes_per_box: int) -> Iterator[str]:
    """The meaning of a box, and of each number of a link."""
    yield f"Each box is {plural(nodes_per_box, 'node')}."
    for number, link in enumerate(links, 1):
        first, last = (pools[end].name for end in link.ends)
        yield from wrap(unbroken_numbers(f"{number}  {first} – {last}: {link.label}"), LETTERS)


def _pool_shapes(pool: DrawnPool, nodes_per_box: int, top: float, right: float) -> tuple[list[str], float]:
    """A frame with the boxes of a pool, run by run, and its lower end."""
    inner = 10.0
    note = svg.fitted_text(pool.note, right * 0.66, 12)
    most = right - 2 * inner - svg.text_width(note, 12) - 12
    parts = [
        svg.text_shape(inner, top + 19, svg.fitted_text(pool.name, most, 13, bold=True), size=13, bold=True),
        svg.text_shape(right - inner, top + 19, note, size=12, tint="soft", end="end"),
    ]
    columns = max(1, int((right - 2 * inner) // SIDE))
    y = top + 30
    for run in pool.runs:
        shapes, y = _run_shapes(run, nodes_per_box, (inner, y), columns)
        parts += shapes
    if pool.spares:
        spare = DrawnNodes(pool.spares, (), f"{plural(pool.spares, 'spare node')}")
        shapes, y = _run_shapes(spare, nodes_per_box, (inner, y), columns)
        parts += shapes
    parts.insert(0, svg.frame(1, top, right - 2, y + 2 - top, "line", stroke=1.5))
    return parts, y + 2


def _run_shapes(run: DrawnNodes, nodes_per_box: int, at: tuple[float, float], columns: int) -> tuple[list[str], float]:
    """Shapes for some nodes: boxes in rows with a label next to or below them, and the lower end of the drawing."""
    x, y = at
    count = -(-run.count // nodes_per_box)
    parts: list[str] = []
    for number in range(count):
        row, column = divmod(number, columns)
        parts += _box_shapes(run.turns, x + column * SIDE, y + row * SIDE)
    rows, last = -(-count // columns), (count - 1) % columns + 1 if count else 0
    end = x + last * SIDE + 6
    space = x + columns * SIDE - end
    low = y + rows * SIDE
    if svg.text_width(run.label, 12) <= space:
        return [*parts, svg.text_shape(end, low - 4, run.label, size=12)], low + 6
    label = svg.fitted_text(run.label, columns * SIDE, 12)
    return [*parts, svg.text_shape(x, low + 12, label, size=12)], low + 22


def _box_shapes(turns: Sequence[DrawnTurn], x: float, y: float) -> Iterator[str]:
    """The box of one node, divided by the shares of the jobs that take turns, with a frame if some time is free."""
    side = SIDE - 2.5
    if sum_of(turn.share for turn in turns) < 1 - 1e-9:
        yield svg.frame(x + 0.5, y + 0.5, side - 1, side - 1, "other", stroke=1)
    at = x
    for turn in turns:
        yield svg.box(at, y, side * turn.share, side, turn.tint, radius=0, title=turn.job)
        at += side * turn.share


def _link_shapes(number: int, ends: tuple[float, float], left: float, x: float) -> list[str]:
    first, last = ends
    middle = (first + last) / 2
    return [
        svg.curve([(left - 1, first), (x, first), (x, last), (left - 1, last)], "scale-out", width=2),
        svg.dot(x, middle, "scale-out", radius=8),
        svg.text_shape(x, middle + 4, f"{number}", size=11, tint="paper", end="middle", bold=True),
    ]
