"""The changes of a compared design: keys, figures and findings, as `clusterspec diff` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.finding import Finding
from clusterspec.records import replace
from clusterspec.report.diff_text import effect_figure, effect_label, relative_change_text, shown_value
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, TableColumn, TableRow, Text
from clusterspec.results.decision import DiffReport
from clusterspec.results.full import FullReport
from clusterspec.source import Path, dotted_path

MOST_KEYS = 20
"""Maximum number of keys listed; very different designs differ in many."""
SEPARATED = 10_000
"""Numbers from this value on are printed with thousands separators."""
UNTOLD = frozenset({("name",), ("description",)})
"""Keys that are omitted because the reader sees their values elsewhere."""


def difference_blocks(report: FullReport) -> Iterator[Block]:
    """The keys and figures in which the compared designs differ from the first, and findings of only one of them."""
    found = {number: other.difference for number, other in enumerate(report.against, 1) if other.difference is not None}
    letters = tuple(name[0] for name in report.names)
    if found:
        yield from _keys_blocks(found, letters)
        yield from _figures_blocks(found, letters)
    for number, one in found.items():
        root, first, other = _field_root(number), letters[0], letters[number]
        if one.caution:
            yield Text(one.caution, f"{root}.caution")
        yield from _finding_bullets(
            f"Findings of {other} that {first} does not have", one.found, f"{root}.findings.new"
        )
        yield from _finding_bullets(
            f"Findings of {first} that {other} does not have", one.fixed, f"{root}.findings.fixed"
        )


def _field_root(number: int) -> str:
    """The JSON field of the difference of a compared design; the first has the number 1."""
    return f"against[{number - 1}].difference"


def _keys_blocks(differences: dict[int, DiffReport], letters: tuple[str, ...]) -> Iterator[Block]:
    """The keys that differ, with the value of each design."""
    cells: dict[Path, list[str]] = {}
    fields: dict[Path, list[str]] = {}
    for number, difference in differences.items():
        for at, change in enumerate(difference.changes):
            for path, old, new in single_key_changes(change.path, change.old, change.new):
                if change.path in UNTOLD:
                    continue
                row = cells.setdefault(path, [value_cell(old, new)] * len(letters))
                row[number] = value_cell(new, old)
                field = f"{_field_root(number)}.changes[{at}]" + ("" if path != change.path else ".new")
                fields.setdefault(path, [""] * len(letters))[number] = field
    rows = [_difference_row(dotted_path(path), cells[path], fields[path]) for path in cells]
    if rows:
        columns = (TableColumn("Key"), *(TableColumn(letter) for letter in letters))
        caption = f"Keys that differ from those of {letters[0]}"
        yield PaperTable(columns, tuple(rows[:MOST_KEYS]), "against", caption=caption)
    if len(rows) > MOST_KEYS:
        yield Text(f"{len(rows) - MOST_KEYS} further keys differ: `clusterspec diff` lists all.", "against")


def _figures_blocks(differences: dict[int, DiffReport], letters: tuple[str, ...]) -> Iterator[Block]:
    """The figures that differ, with the change of each design from the first."""
    cells: dict[str, list[str]] = {}
    fields: dict[str, list[str]] = {}
    unsure = False
    for number, difference in differences.items():
        for at, one in enumerate(difference.effects):
            name = effect_label(one)
            row = cells.setdefault(name, [effect_figure(one, one.old)] * len(letters))
            change = relative_change_text(replace(one, within_band=None)) + ("*" if one.within_band else "")
            row[number] = f"{effect_figure(one, one.new)} ({change})" if change else effect_figure(one, one.new)
            fields.setdefault(name, [""] * len(letters))[number] = f"{_field_root(number)}.effects[{at}].new"
            unsure |= bool(one.within_band)
    if not cells:
        return
    rows = tuple(_difference_row(name, cells[name], fields[name]) for name in cells)
    columns = (TableColumn("Figure"), *(TableColumn(letter, "right") for letter in letters))
    caption = f"Figures that differ from those of {letters[0]}"
    caption += "; * within the uncertainty of the model" if unsure else ""
    yield PaperTable(columns, rows, "against", caption=caption)


def _difference_row(name: str, cells: list[str], fields: list[str]) -> TableRow:
    """A row of a difference. The cells of designs without a difference have no field."""
    field = next(each for each in fields if each).removesuffix(".new")
    return TableRow((name, *cells), field, fields=(field, *fields))


def single_key_changes(path: Path, old: Any, new: Any) -> Iterator[tuple[Path, Any, Any]]:
    """The change as single keys if it adds or removes a whole section; other changes are returned as they are."""
    both = [each for each in (old, new) if each is not None]
    if not both or not all(isinstance(each, dict) and each for each in both):
        yield path, old, new
        return
    for key in dict.fromkeys(key for each in both for key in each):
        yield from single_key_changes((*path, key), (old or {}).get(key), (new or {}).get(key))


def value_cell(value: Any, other: Any = None) -> str:
    """A value of the spec for a cell, compared with ``other``. Numbers of five or more digits have thousands
    separators, so years do not.

    >>> value_cell(260000), value_cell(2026), value_cell("400 Gb/s"), value_cell(True)
    ('260,000', '2026', '400 Gb/s', 'true')
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= SEPARATED
    return f"{value:,}" if number else shown_value(value, other)


def _finding_bullets(title: str, findings: tuple[Finding, ...], field: str) -> Iterator[Bullets]:
    """Errors and warnings, the most severe first; notes are left out."""
    ranked = sorted(enumerate(findings), key=lambda pair: pair[1].severity.rank)
    told = [(f"{one.severity}: {one.message}", f"{field}[{number}]") for number, one in ranked if one.severity.rank < 2]
    if told:
        yield Bullets(title, tuple(told))
