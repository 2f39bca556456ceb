"""Drawings of the machine: a node, one block of nodes below its leaves, and the whole by repetition.

Labels stand in boxes or next to the links, so that no line crosses one. Repeated parts are drawn a few times and
counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import pi, sin
from textwrap import wrap

from clusterspec.records import dataclass
from clusterspec.report import unbroken_numbers
from clusterspec.report.charts import svg
from clusterspec.units import plural

MESH = frozenset({"full-mesh", "partial-mesh", "bridge"})
"""Topologies with links between pairs of accelerators."""
LETTERS = 62
"""Letters of a label on the width of a drawing."""


def box_centers(count: int, most: int, start: float, end: float) -> tuple[list[float | None], float]:
    """The centers of ``count`` boxes between two ends, and their pitch. If there are more than ``most`` boxes, None
    marks the gap of the omitted ones.

    >>> box_centers(2, 8, 0, 100), box_centers(100, 4, 0, 100)[0]
    (([25.0, 75.0], 50.0), [12.5, 37.5, None, 87.5])
    """
    drawn = min(count, most)
    pitch = (end - start) / max(1, drawn)
    centers: list[float | None] = [start + pitch * (number + 0.5) for number in range(drawn)]
    if count > most:
        centers[-2] = None
    return centers, pitch


def box_numbers(count: int, most: int) -> list[int | None]:
    """The numbers of the boxes of `box_centers`, from 1."""
    if count <= most:
        return list(range(1, count + 1))
    return [*range(1, most - 1), None, count]


def dots_shape(x: float, y: float) -> str:
    return svg.text_shape(x, y, "…", size=15, end="middle", bold=True)


def labeled_box(
    x: float, y: float, measures: tuple[float, float], tint: str, label: str = "", *, size: float = 11
) -> str:
    """A box of a width and height around a center line, with a label inside where it fits."""
    width, height = measures
    shape = svg.box(x - width / 2, y, width, height, tint, radius=2)
    if not label or svg.text_width(label, size) > width - 2:
        return shape
    return shape + svg.text_shape(x, y + height / 2 + size * 0.36, label, size=size, tint="paper", end="middle")


# A node: NICs, host, accelerators, and the links between them


@dataclass(frozen=True)
class DrawnNode:
    """A node. ``links`` is the topology of the scale-up interconnect, ``others`` the further nodes of its domain.

    With ``own_ports`` the NICs are ports of the accelerators, and the host is on no path between nodes.
    """

    accelerators: int
    name: str
    nics: int
    nic_label: str
    host_label: str
    links: str
    link_label: str
    others: int = 0
    own_ports: bool = False
    switch_links: tuple[int, ...] = ()
    """The links of one accelerator to each scale-up switch inside the node, if known."""

    @property
    def nic_title(self) -> str:
        """The line above the NICs: their label, or its first part if the label is too long."""
        fits = svg.text_width(self.nic_label, 12) <= svg.WIDTH - 20
        return self.nic_label if fits else self.nic_label.partition(", ")[0]

    @property
    def nic_rest(self) -> str:
        """The part of the NICs' label that the line above them omits."""
        return self.nic_label.removeprefix(self.nic_title).removeprefix(", ")


def node_chart(node: DrawnNode, alt: str) -> str:
    """NICs above, the host with its PCIe, accelerators, and the scale-up links below them."""
    if node.own_ports:
        return _own_ports_chart(node, alt)
    start, end = 10.0, svg.WIDTH - 10
    centers, pitch = box_centers(node.accelerators, 32, start, end)
    wide = min(46.0, pitch - 4)
    top = 58.0 if node.nics else 22.0
    parts = _nic_shapes(node, start, end) if node.nics else [_label(node.nic_title, 14)]
    host = top + 22
    parts += [svg.box(start, host, end - start, 26, "other", radius=2)]
    parts += [svg.text_shape(svg.WIDTH / 2, host + 17, node.host_label, size=12, tint="paper", end="middle")]
    row = host + 50
    for number, x in zip(box_numbers(node.accelerators, 32), centers, strict=True):
        if x is None:
            parts.append(dots_shape(middle_of_gap(centers), row + 20))
            continue
        parts += [svg.segment(x, host + 26, x, row, "other"), labeled_box(x, row, (wide, 34), "memory", f"{number}")]
    shapes, low = _link_shapes(node, [x for x in centers if x is not None], row + 34, start, end)
    return svg.drawing(*_labeled_node(node, [*parts, *shapes], low), alt, name="node")


def _own_ports_chart(node: DrawnNode, alt: str) -> str:
    """Accelerators with their own ports above, the scale-up links below them, and the host at the end of PCIe."""
    start, end = 10.0, svg.WIDTH - 10
    centers, pitch = box_centers(node.accelerators, 32, start, end)
    shown = [x for x in centers if x is not None]
    wide, ports = min(46.0, pitch - 4), node.nics // node.accelerators
    step, row = wide / (ports + 1), 44.0
    shapes, low = _link_shapes(node, shown, row + 34, start, end)
    parts = [_label(node.nic_title, 14)]
    parts += [svg.segment(x, row + 34, x, low + 4, "other") for x in shown]
    for number, x in zip(box_numbers(node.accelerators, 32), centers, strict=True):
        if x is None:
            parts.append(dots_shape(middle_of_gap(centers), row + 20))
            continue
        at = [x - wide / 2 + step * (port + 1) for port in range(ports)]
        parts += [svg.segment(each, 24, each, row, "scale-out", width=2) for each in at]
        parts.append(labeled_box(x, row, (wide, 34), "memory", f"{number}"))
    parts += [*shapes, svg.box(start, low + 4, end - start, 22, "other", radius=2)]
    parts.append(svg.text_shape(svg.WIDTH / 2, low + 19, node.host_label, size=12, tint="paper", end="middle"))
    return svg.drawing(*_labeled_node(node, parts, low + 26), alt, name="node")


def _labeled_node(node: DrawnNode, parts: list[str], low: float) -> tuple[float, list[str]]:
    """The height and the shapes of a node with the lines of text below it."""
    told = (
        (f"{plural(node.accelerators, 'accelerator')}: {node.name}", "ink"),
        (node.link_label, "soft"),
        (f"NICs: {node.nic_rest}" if node.nic_rest else "", "soft"),
    )
    lines = [(line, tint) for text, tint in told for line in wrap(unbroken_numbers(text), LETTERS)]
    texts = [_label(line, low + 18 + 16.5 * number, tint) for number, (line, tint) in enumerate(lines)]
    return low + 11 + 16.5 * len(lines), [*parts, *texts]


def _label(text: str, y: float, tint: str = "ink") -> str:
    return svg.text_shape(10, y, text, size=12, tint=tint)


def _nic_shapes(node: DrawnNode, start: float, end: float) -> list[str]:
    parts = [_label(node.nic_title, 14)]
    centers, pitch = box_centers(node.nics, 32, start, end)
    for x in centers:
        if x is None:
            continue
        parts += [svg.segment(x, 22, x, 40, "scale-out", width=2), svg.segment(x, 58, x, 80, "other")]
        parts.append(labeled_box(x, 40, (min(40.0, pitch - 3), 18), "scale-out", "NIC"))
    return parts


def _link_shapes(
    node: DrawnNode, centers: Sequence[float], top: float, start: float, end: float
) -> tuple[list[str], float]:
    """The scale-up links below the accelerators, and their lower end."""
    if node.links == "switched" and node.switch_links and not node.others:
        return _switch_shapes(node.switch_links, centers, top, start, end)
    if node.links == "switched":
        bar = top + 24
        parts = [svg.segment(x, top, x, bar, "scale-up", width=2) for x in centers]
        reach = svg.WIDTH if node.others else end
        parts.append(svg.box(start, bar, reach - start, 22, "scale-up", radius=2))
        said = (
            f"scale-up switches, shared with {plural(node.others, 'more node')}" if node.others else "scale-up switches"
        )
        parts.append(svg.text_shape(svg.WIDTH / 2, bar + 15, said, size=12, tint="paper", end="middle"))
        return parts, bar + 22
    if node.links in MESH:
        pairs = [(a, b) for n, a in enumerate(centers) for b in centers[n + 1 :]]
        return [_arc_path(a, b, top, centers[-1] - centers[0]) for a, b in pairs], top + 46
    if node.links == "ring" and len(centers) > 1:
        pairs = [*itertools.pairwise(centers), (centers[0], centers[-1])]
        return [_arc_path(a, b, top, centers[-1] - centers[0]) for a, b in pairs], top + 46
    if node.links == "torus":
        stubs = [
            svg.segment(x + step, top, x + 2 * step, top + 16, "scale-up", width=2)
            for x in centers
            for step in (-5, 0, 5)
        ]
        return stubs, top + 18
    return [], top + 2


def _switch_shapes(
    links: Sequence[int], centers: Sequence[float], top: float, start: float, end: float
) -> tuple[list[str], float]:
    """The switches of a node with the links of each accelerator to them; links of the first accelerator are dark."""
    low = top + 52
    switches, pitch = box_centers(len(links), len(links), start, end)
    drawn = [x for x in switches if x is not None]
    parts = [svg.segment(x, top, at, low, "line") for x in centers[1:] for at in drawn]
    parts += [
        svg.segment(centers[0], top, at, low, "scale-up", width=0.5 + 0.5 * count)
        for at, count in zip(drawn, links, strict=True)
    ]
    wide = min(96.0, pitch - 6)
    for number, (x, count) in enumerate(zip(drawn, links, strict=True), 1):
        name = f"switch {number}" if wide > 48 else f"{number}"
        parts.append(labeled_box(x, low, (wide, 20), "scale-up", name))
        told = plural(count, "link") if wide > 40 else f"{count}"
        parts.append(svg.text_shape(x, low + 35, told, size=11, end="middle"))
    return parts, low + 38


def _arc_path(first: float, last: float, y: float, whole: float) -> str:
    """A link between two accelerators as an arc; the arc is deeper for accelerators farther apart."""
    depth = 10 + 32 * (last - first) / (whole or 1.0)
    steps = 16
    points = [
        (first + (last - first) * number / steps, y + depth * sin(pi * number / steps)) for number in range(steps + 1)
    ]
    return svg.curve(points, "scale-up", width=1.2)


# One block of nodes with its leaves, and the whole by repetition


@dataclass(frozen=True)
class DrawnBlock:
    """Nodes below the same leaves. ``up`` are the uplinks of one leaf."""

    nodes: int
    leaves: int
    up: int
    up_label: str
    node_label: str
    leaf_label: str


MOST_LEAVES = 9
MOST_NODES = 7


def block_chart(block: DrawnBlock, alt: str) -> str:
    """Leaves above, nodes below; the links of the first node are drawn dark, all others light."""
    start, end = 8.0, svg.WIDTH - 8
    leaves, pitch = box_centers(block.leaves, MOST_LEAVES, start, end)
    nodes, wide = box_centers(block.nodes, MOST_NODES, start, end)
    leaf, node = (60.0, 172.0) if block.up else (30.0, 120.0)
    parts = [svg.text_shape(start, 14, block.up_label, size=12)]
    ends = [x for x in leaves if x is not None]
    for x in ends if block.up else ():
        parts += [svg.segment(x + step, leaf, x + 1.6 * step, 26, "cp", width=1.5) for step in (-7, 0, 7)]
    light = [(x, y) for x in nodes[1:] if x is not None for y in ends]
    parts += [svg.segment(x, node, y, leaf + 22, "line") for x, y in light]
    first = nodes[0]
    if first is not None:
        parts += [svg.segment(first, node, y, leaf + 22, "scale-out", width=1.8) for y in ends]
    leaf_size, node_size = (min(pitch - 6, 64), 22.0), (min(wide - 6, 70), 26.0)
    parts += _numbered_boxes("leaf", (block.leaves, MOST_LEAVES), leaves, (leaf, leaf_size, "scale-out"))
    parts += _numbered_boxes("node", (block.nodes, MOST_NODES), nodes, (node, node_size, "memory"))
    parts.append(svg.text_shape(start, node + 46, block.leaf_label, size=12))
    parts.append(svg.text_shape(start, node + 63, block.node_label, size=12, tint="soft"))
    return svg.drawing(node + 72, parts, alt, name="block")


def _numbered_boxes(
    word: str,
    count: tuple[int, int],
    centers: Sequence[float | None],
    look: tuple[float, tuple[float, float], str],
) -> Iterator[str]:
    """Boxes with a word and their number, or with only the number if the word does not fit; ``look`` is top, size,
    tint.
    """
    top, size, tint = look
    for number, x in zip(box_numbers(*count), centers, strict=True):
        if x is None:
            yield dots_shape(middle_of_gap(centers), top + size[1] * 0.7)
            continue
        label = f"{word} {number}"
        yield labeled_box(x, top, size, tint, label if svg.text_width(label, 11) <= size[0] - 2 else f"{number:,}")


def middle_of_gap(centers: Sequence[float | None]) -> float:
    """The middle of the gap, which is the one before the last."""
    known = [x for x in centers if x is not None]
    return (known[-2] + known[-1]) / 2 if len(known) > 1 else known[0]


@dataclass(frozen=True)
class DrawnRow:
    """A row of switches or of blocks: how many, their tint, and two lines of text."""

    count: int
    tint: str
    label: str
    note: str
    box: str = ""
    """The text in each box."""


MOST_BOXES = 8


def fabric_chart(rows: Sequence[DrawnRow], alt: str, *, pods: int = 1) -> str:
    """Levels from the top down, a few parts of each; links between levels; labels at the left, free of lines.

    With several ``pods``, parts of the two lowest rows are linked only inside a pod; each pod is drawn as one box.
    """
    left, high, gap, top = 158.0, 34.0, 40.0, 8.0
    drawn = [box_centers(row.count, MOST_BOXES, left, svg.WIDTH) for row in rows]
    parts: list[str] = []
    for level, (upper, lower) in enumerate(itertools.pairwise(drawn)):
        y = top + level * (high + gap)
        inside = pods > 1 and level == len(rows) - 2
        links = [(a, b) for a in upper[0] for b in lower[0] if a is not None and b is not None]
        near = [(a, b) for a, b in zip(upper[0], lower[0], strict=False) if a is not None and b is not None]
        parts += [
            svg.segment(a, y + high, b, y + high + gap, "soft", width=0.7) for a, b in (near if inside else links)
        ]
    for level, row in enumerate(rows):
        y = top + level * (high + gap)
        centers, pitch = drawn[level]
        parts.append(svg.text_shape(0, y + 14, row.label, size=12.5, bold=True))
        parts.append(svg.text_shape(0, y + 30, row.note, size=11, tint="soft"))
        for x in centers:
            shown = (
                dots_shape(middle_of_gap(centers), y + high / 2 + 4)
                if x is None
                else labeled_box(x, y, (min(pitch - 5, 60), high), row.tint, row.box)
            )
            parts.append(shown)
    return svg.drawing(top + len(rows) * (high + gap) - gap + 6, parts, alt, name="whole")
