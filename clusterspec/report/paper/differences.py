"""What a compared design changes: keys, figures and findings, as `clusterspec diff` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.finding import Finding
from clusterspec.report.diff_text import effect_figure, relative_change, shown_value
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, TableColumn, TableRow, Text
from clusterspec.results.decision import DiffReport
from clusterspec.results.full import FullReport
from clusterspec.source import Path, dotted_path

MOST_KEYS = 20
"""Maximum number of keys listed; very different designs differ in many."""
SEPARATED = 10_000
"""The least number that is printed with separators."""
UNTOLD = frozenset({("name",), ("description",)})
"""Keys whose values the reader sees elsewhere."""


def difference_blocks(report: FullReport) -> Iterator[Block]:
    """For each compared design: its differences from the first."""
    for number, other in enumerate(report.against):
        if other.difference is not None:
            letters = report.names[0][0], report.names[number + 1][0]
            yield from _blocks_of(other.difference, letters, f"against[{number}].difference")


def _blocks_of(found: DiffReport, letters: tuple[str, str], root: str) -> Iterator[Block]:
    first, other = letters
    keys = tuple(
        TableRow(
            (dotted_path(path), value_cell(old), value_cell(new)), f"{root}.changes[{number}]", bare=path != one.path
        )
        for number, one in enumerate(found.changes)
        if one.path not in UNTOLD
        for path, old, new in leaves(one.path, one.old, one.new)
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


def leaves(path: Path, old: Any, new: Any) -> Iterator[tuple[Path, Any, Any]]:
    """The single keys of sections that only one design has; other changes unchanged."""
    both = [each for each in (old, new) if each is not None]
    if not both or not all(isinstance(each, dict) and each for each in both):
        yield path, old, new
        return
    for key in dict.fromkeys(key for each in both for key in each):
        yield from leaves((*path, key), (old or {}).get(key), (new or {}).get(key))


def value_cell(given: Any) -> str:
    """A value of the spec in a cell; numbers of five digits and more are separated, years are not.

    >>> value_cell(260000), value_cell(2026), value_cell("400 Gb/s"), value_cell(True)
    ('260,000', '2026', '400 Gb/s', 'true')
    """
    number = isinstance(given, (int, float)) and not isinstance(given, bool) and given >= SEPARATED
    return f"{given:,}" if number else shown_value(given)


def _finding_bullets(title: str, findings: tuple[Finding, ...], field: str) -> Iterator[Bullets]:
    """Errors and warnings, the most severe first; notes are left out."""
    ranked = sorted(enumerate(findings), key=lambda pair: pair[1].severity.rank)
    told = [(f"{one.severity}: {one.message}", f"{field}[{number}]") for number, one in ranked if one.severity.rank < 2]
    if told:
        yield Bullets(title, tuple(told))
