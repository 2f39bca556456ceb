"""What a compared design changes: keys, figures and findings, as `clusterspec diff` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Finding
from clusterspec.report.diff_text import effect_figure, relative_change, shown_value
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, TableColumn, TableRow, Text
from clusterspec.results.decision import DiffReport
from clusterspec.results.full import FullReport
from clusterspec.source import dotted_path

MOST_KEYS = 20
"""Keys that are listed; unlike designs differ in many."""
UNTOLD = frozenset({("name",), ("description",)})
"""Keys whose values the reader sees elsewhere."""


def difference_blocks(report: FullReport) -> Iterator[Block]:
    """For each compared design, what it has other than the first."""
    for number, other in enumerate(report.against):
        if other.difference is not None:
            letters = report.names[0][0], report.names[number + 1][0]
            yield from _blocks_of(other.difference, letters, f"against[{number}].difference")


def _blocks_of(found: DiffReport, letters: tuple[str, str], root: str) -> Iterator[Block]:
    first, other = letters
    keys = tuple(
        TableRow((dotted_path(one.path), shown_value(one.old), shown_value(one.new)), f"{root}.changes[{number}]")
        for number, one in enumerate(found.changes)
        if one.path not in UNTOLD
    )
    sides = (TableColumn(first, key="old"), TableColumn(other, key="new"))
    if keys:
        caption = f"Keys of {other} that differ from those of {first}"
        yield PaperTable((TableColumn("Key"), *sides), keys[:MOST_KEYS], f"{root}.changes", caption=caption)
    if len(keys) > MOST_KEYS:
        yield Text(f"{len(keys) - MOST_KEYS} further keys differ: `clusterspec diff` lists all.", f"{root}.changes")
    figures = tuple(
        TableRow(
            (one.name, effect_figure(one, one.old), effect_figure(one, one.new), relative_change(one)),
            f"{root}.effects[{number}]",
        )
        for number, one in enumerate(found.effects)
    )
    if figures:
        columns = (
            TableColumn("Figure"),
            TableColumn(first, "right", "old"),
            TableColumn(other, "right", "new"),
            TableColumn("Change"),
        )
        caption = f"Figures of {other} that differ from those of {first}"
        yield PaperTable(columns, figures, f"{root}.effects", caption=caption)
    if found.caution:
        yield Text(found.caution, f"{root}.caution")
    yield from _finding_bullets(f"Findings of {other} that {first} does not have", found.found, f"{root}.findings.new")
    yield from _finding_bullets(
        f"Findings of {first} that {other} does not have", found.fixed, f"{root}.findings.fixed"
    )


def _finding_bullets(title: str, findings: tuple[Finding, ...], field: str) -> Iterator[Bullets]:
    """Errors and warnings, the most severe first; notes are left out."""
    ranked = sorted(enumerate(findings), key=lambda pair: pair[1].severity.rank)
    told = [(f"{one.severity}: {one.message}", f"{field}[{number}]") for number, one in ranked if one.severity.rank < 2]
    if told:
        yield Bullets(title, tuple(told))
