"""How a design runs: its groups of ranks, the bus bandwidth of collectives by size, and the launch of its framework."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.report.charts.links import SizeCurve, size_chart
from clusterspec.report.paper.blocks import (
    Block,
    Bullets,
    Code,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
)
from clusterspec.results.full import FullReport
from clusterspec.results.groups import RankGroups, SizedCollective
from clusterspec.units import display, plural


def groups_table(groups: Sequence[RankGroups]) -> PaperTable | None:
    """The placement of the groups of each axis."""
    if not groups:
        return None
    columns = (
        TableColumn("Axis", key="axis"),
        TableColumn("Groups", "right", "groups"),
        TableColumn("Ranks", "right", "ranks"),
        TableColumn("The first group", key="first"),
        TableColumn("In a node", "right", "ranks_per_node"),
        TableColumn("Nodes", "right", "nodes"),
        TableColumn("Domains", "right", "domains"),
        TableColumn("Crosses", key="crossed"),
    )
    rows = tuple(
        TableRow(
            (
                one.axis,
                f"{one.groups:,}",
                f"{one.ranks:,}",
                one.first,
                f"{one.ranks_per_node:,}",
                f"{one.nodes:,}",
                f"{one.domains:,}",
                ", ".join(one.crossed) or "–",
            ),
            f"groups[{number}]",
        )
        for number, one in enumerate(groups)
    )
    return PaperTable(columns, rows, "groups", caption="Groups of ranks, and the levels of the fabric that they cross")


def collectives_table(collectives: Sequence[SizedCollective]) -> PaperTable | None:
    """The bus bandwidth of each collective of the acceptance plan by size."""
    if not collectives:
        return None
    sizes = collectives[0].sizes
    columns = (
        TableColumn("Collective"),
        TableColumn("On"),
        *(TableColumn(binary_size(size), "right") for size in sizes),
    )
    rows = tuple(
        TableRow(
            (
                one.collective,
                f"{plural(one.nodes, 'node')}, {plural(one.ranks, 'rank')}",
                *(display(rate, "B/s") for rate in one.busbw),
            ),
            f"collectives[{number}]",
            fields=("", "", *(f"collectives[{number}].busbw[{place}]" for place in range(len(sizes)))),
        )
        for number, one in enumerate(collectives)
    )
    return PaperTable(columns, rows, "collectives", caption="Expected bus bandwidth of a collective by size")


def collectives_by_size(collectives: Sequence[SizedCollective]) -> tuple[Block, ...]:
    """A chart of bus bandwidth by message size, and a table of the sizes at which it reaches half of its maximum."""
    shown = [(number, one) for number, one in enumerate(collectives) if len(one.curve) > 1]
    if not shown:
        return ()
    names = [f"{place} {one.collective}, {plural(one.nodes, 'node')}" for place, (_, one) in enumerate(shown, 1)]
    halves = ["any" if one.half_size is None else display(one.half_size, "B") for _, one in shown]
    alt = "; ".join(f"{name}: half of the bandwidth from {half} on" for name, half in zip(names, halves, strict=True))
    drawn = size_chart(
        [SizeCurve(one.curve, one.half_size) for _, one in shown], alt, lambda tick: display(tick, "B", 1)
    )
    most = max((one.half_size or 0.0) for _, one in shown)
    caption = "Bus bandwidth by message size"
    caption += f"; circles mark half of it, at {display(most, 'B', 2)} or less" if most else ""
    columns = (
        TableColumn("Collective"),
        TableColumn("Half from", "right", "half_size"),
        TableColumn(f"At {binary_size(shown[0][1].sizes[-1])}", "right"),
    )
    rows = tuple(
        TableRow(
            (name, half, display(one.busbw[-1], "B/s")),
            f"collectives[{number}]",
            fields=("", f"collectives[{number}].half_size", f"collectives[{number}].busbw[{len(one.busbw) - 1}]"),
        )
        for (number, one), name, half in zip(shown, names, halves, strict=True)
    )
    table = PaperTable(
        columns,
        rows,
        "collectives",
        caption="Bus bandwidth of the largest message, and the size that reaches half of it",
    )
    return Picture(drawn, caption, "collectives"), table


def binary_size(size: float) -> str:
    """A message size as usual in benchmarks: in binary units if exact.

    >>> binary_size(1024.0), binary_size(float(8 << 30)), binary_size(1e9)
    ('1 KiB', '8 GiB', '1 GB')
    """
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power and (size / (1 << power)).is_integer():
            return f"{size / (1 << power):.0f} {unit}"
    return display(size, "B")


MOST_LINES = 48
"""Largest number of lines of a launch that are printed."""


def launch_section(report: FullReport) -> Section | None:
    """The launch of the framework, as `clusterspec export` writes it."""
    found = report.launch
    if found is None:
        return None
    lines = found.text.splitlines()
    blocks: list[Block] = [Code("\n".join(lines[:MOST_LINES]), "launch.text")]
    if len(lines) > MOST_LINES:
        blocks.append(Text(f"{len(lines) - MOST_LINES:,} more lines start the other engines.", "launch.text"))
    if found.omitted:
        items = tuple((text, f"launch.omitted[{number}]") for number, text in enumerate(found.omitted))
        blocks.append(Bullets("Not in this file, or different from the spec", items))
    lead = f"As `clusterspec export {found.kind}` writes it."
    return Section("launch", "Launch", tuple(blocks), lead=lead, appendix=True)
