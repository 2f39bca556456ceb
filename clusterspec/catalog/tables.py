"""Catalog entries as terminal text: pure functions of rows, views and comparisons."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from clusterspec.catalog.entry_view import Comparison, EntryView, FactPair, FactView
from clusterspec.catalog.fact_quantity import figure_text, remarks
from clusterspec.catalog.rows import CatalogRow
from clusterspec.origin import Cited
from clusterspec.units import plain

_INDENT = 4


def list_text(rows: Sequence[CatalogRow], width: int = 100) -> str:
    """A table of rows, one block per kind."""
    blocks = []
    for kind in dict.fromkeys(row.kind for row in rows):
        of_kind = [row for row in rows if row.kind == kind]
        cells = [(row.id, "" if row.status == "shipping" else row.status, row.headline) for row in of_kind]
        blocks.append("\n".join([f"{kind} ({len(of_kind)})", *_table(cells, width)]))
    return "\n\n".join(blocks) + "\n" if blocks else "no catalog entry matches\n"


def show_text(view: EntryView, width: int = 100) -> str:
    """A complete entry: each figure with equivalents and the number of its source."""
    numbers = {source: number for number, source in enumerate(_sources(view), 1)}
    parts = [_title(view), "", *_facts(view.facts, numbers, width)]
    if view.achievable:
        parts += ["", "measured", *_facts(view.achievable, numbers, width)]
    parts += _list("inconsistent sums", [f"{name}: {why}" for name, why in view.exceptions.items()], width)
    parts += _list("notes", view.notes, width)
    parts += _list("sources", [f"[{number}] {_cite(source)}" for source, number in numbers.items()], 0)
    return "\n".join(parts) + "\n"


def compare_text(comparison: Comparison, width: int = 100) -> str:
    """Two entries side by side; ``=`` if they agree, else the ratio of right to left."""
    left, right = comparison.left, comparison.right
    header = ("", f"{left.kind}/{left.id}", f"{right.kind}/{right.id}", "")
    cells = [header, *((pair.name, _side(pair.left), _side(pair.right), _ratio(pair)) for pair in comparison.pairs)]
    return "\n".join(_table(cells, width)) + "\n"


def _title(view: EntryView) -> str:
    vendor = f" ({view.vendor})" if view.vendor else ""
    note = f", {view.status.note}" if view.status.note else ""
    return f"{view.kind}/{view.id}: {view.name}{vendor}\n{view.status.state} as of {view.status.as_of}{note}"


def _sources(view: EntryView) -> dict[Cited, None]:
    """The distinct sources, in the order of the facts."""
    origins = [line.fact.origin for line in (*view.facts, *view.achievable)]
    return dict.fromkeys(_bare(origin) for origin in origins if isinstance(origin, Cited))


def _bare(origin: Cited) -> Cited:
    return Cited("", "", origin.source, origin.url, origin.read)


def _cite(source: Cited) -> str:
    return ", ".join(part for part in (source.source, source.url, source.read and f"read {source.read}") if part)


def _facts(lines: Sequence[FactView], numbers: dict[Cited, int], width: int) -> Iterator[str]:
    names = [line.name.removeprefix("achievable.") for line in lines]
    column = max((len(name) for name in names), default=0) + 2
    for name, line in zip(names, lines, strict=True):
        yield f"{name:<{column}}{_figure(line)}  {_mark(line, numbers)}".rstrip()
        for text in _details(line):
            yield from textwrap.wrap(
                text, max(width, 40), initial_indent=" " * _INDENT, subsequent_indent=" " * (_INDENT + 2)
            )


def _figure(line: FactView) -> str:
    prints = f", printed as {line.fact.prints}" if line.fact.prints else ""
    return figure_text(line.fact) + prints


def _mark(line: FactView, numbers: dict[Cited, int]) -> str:
    origin = line.fact.origin
    if isinstance(origin, Cited):
        return f"[{numbers[_bare(origin)]}]"
    return "assumed" if origin else ""


def _details(line: FactView) -> Iterator[str]:
    if line.readings:
        yield " · ".join(f"{counted} {text}" for counted, text in line.readings.items())
    if line.fact.origin and not isinstance(line.fact.origin, Cited):
        yield f"assumed: {line.fact.origin.why}"
    if line.fact.also:
        yield f"also in {'; '.join(one.named for one in line.fact.also)}"
    yield from remarks(line.fact)


def _list(title: str, texts: Sequence[str], width: int) -> list[str]:
    """A titled list; with a width of 0 lines are not wrapped, so that addresses can be copied."""
    indent = " " * _INDENT
    wrapped = [
        textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent) if width else [indent + text]
        for text in texts
    ]
    return ["", title, *(line for lines in wrapped for line in lines)] if texts else []


def _side(line: FactView | None) -> str:
    return "-" if line is None else line.written


def _ratio(pair: FactPair) -> str:
    if pair.ratio is None:
        return "=" if pair.left and pair.right and pair.left.written == pair.right.written else ""
    return "=" if pair.ratio == 1 else f"x {plain(pair.ratio)}"


def _table(cells: Sequence[tuple[str, ...]], width: int) -> Iterator[str]:
    """Columns as wide as their longest cell, with lines truncated at ``width`` (0: not truncated)."""
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        yield line if not width or len(line) <= width else line[: width - 1] + "…"
