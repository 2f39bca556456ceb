"""The rows of a data sheet as text. A row is a label with a value, from a table, columns, `label: value`, or a pair of
lines.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clusterspec.document.schema import letters_and_digits
from clusterspec.records import NamedTuple

MOST_LINES = 4_000
LONGEST_LINE = 300
LONGEST_LABEL = 70
FEWEST_OTHERS = 3
"""A page is about a whole family if it names at least this many other parts of the same form."""
_TAG = re.compile(r"<[^<>]{0,2000}>")
_CELL_END = re.compile(r"</t[dh]\s{0,9}>", re.IGNORECASE)
_LINE_END = re.compile(r"</(?:tr|p|div|li|h[1-6]|dt|dd)\s{0,9}>|<br\s{0,9}/?>", re.IGNORECASE)
_BREAK = re.compile(r"[\r\n]{1,99}")
_UNREAD = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_READ_AGAIN = re.compile(r"</(?:script|style)\b", re.IGNORECASE)
_GAP = re.compile(r"\s{0,99}\|\s{0,99}|\t{1,99}|[ \xa0]{2,400}")
_PAIR = re.compile(rf"([^:]{{2,{LONGEST_LABEL}}}):\s{{1,9}}(\S.*)")


class Row(NamedTuple):
    """A label and its value on a line of the sheet, counted from 1; a sentence has an empty label."""

    label: str
    value: str
    line: int


def sheet_rows(text: str, name: str) -> list[Row]:
    """The rows of a sheet in their order.

    A table with a column for each of several parts gives the values of the part ``name``; if no column has this name,
    it gives the values of all columns.

    >>> [(row.label, row.value) for row in sheet_rows("Ports: 64\\n", "x") if row.label]
    [('Ports', '64')]
    >>> table = "|Part|A100|H100|\\n|TDP|400 W|700 W|"
    >>> [row.value for row in sheet_rows(table, "H100") if row.label == "TDP"]
    ['700 W']
    """
    lines = _lines_of_part([(n, line) for n, line in enumerate(sheet_lines(text), start=1) if line], name)
    cells = [_cells(line) for _, line in lines]
    rows: list[Row] = []
    column: tuple[int, int] | None = None
    for at, (number, line) in enumerate(lines):
        column = _column_of(cells[at], name) or column
        rows += [Row(label, value, number) for label, value in _pairs(cells, at, column)]
        below = lines[at + 1][1] if at + 1 < len(lines) else ""
        rows.append(Row("", f"{line} {below}", number))
    return list({row[:2]: row for row in reversed(rows)}.values())[::-1]


def sheet_lines(text: str) -> list[str]:
    """The lines of a text, or of a page of HTML with a tab between the cells of a table; each stripped and cut."""
    if re.search(r"<(?:html|table|div)\b", text[:200_000], re.IGNORECASE):
        first, *others = _UNREAD.split(text)
        text = _BREAK.sub(
            " ", " ".join([first, *(" ".join(_READ_AGAIN.split(each, maxsplit=1)[1:]) for each in others)])
        )
        text = html.unescape(_TAG.sub(" ", _LINE_END.sub("\n", _CELL_END.sub(" \t", text))))
    return [line.strip(" |\t\r")[:LONGEST_LINE] for line in text.split("\n")[:MOST_LINES]]


def _lines_of_part(lines: list[tuple[int, str]], name: str) -> list[tuple[int, str]]:
    """The lines from the name of a part to that of another part, if the page is about a whole family.

    A family is several names of the form of this one with other digits. Tables with a column for each are left whole.

    >>> page = [(n, line) for n, line in enumerate(["SN2", "8", "SN3", "9", "SN4", "7", "SN5"], start=1)]
    >>> _lines_of_part(page, "SN3")
    [(3, 'SN3'), (4, '9')]
    """
    if not any(map(str.isdigit, name)):
        return lines
    form = re.compile(rf"\b{re.sub('[0-9]', lambda _: '[0-9]', re.escape(name))}\b")
    named = [form.findall(line) for _, line in lines]
    if len({each for found in named for each in found} - {name}) < FEWEST_OTHERS or not any(name in n for n in named):
        return lines
    kept, is_own = [], False
    for line, found in zip(lines, named, strict=True):
        is_own = name in found if found else is_own
        kept += [line] if is_own else []
    return kept


def _cells(line: str) -> list[str]:
    return [cell.strip(" `") for cell in _GAP.split(line.replace("**", "")) if cell.strip(" *`-:")]


def _column_of(cells: Sequence[str], name: str) -> tuple[int, int] | None:
    """The index of the header cell that names the part, and the number of cells; None for other rows."""
    wanted = letters_and_digits(name)
    named = [n for n, cell in enumerate(cells) if wanted and wanted in letters_and_digits(cell)]
    return (named[0], len(cells)) if len(cells) > 2 and len(named) == 1 and named[0] > 0 else None


def _pairs(cells: Sequence[Sequence[str]], at: int, column: tuple[int, int] | None) -> Iterator[tuple[str, str]]:
    """The label-value pairs of a line, including a label with its value on the line below."""
    own = cells[at]
    for cell in own:
        if pair := _PAIR.fullmatch(cell):
            yield pair[1], pair[2]
    label, *values = own or [""]
    if column and len(own) == column[1]:
        yield label, own[column[0]]
    elif _is_label(label):
        yield from ((label, value) for value in values)
        yield from ((left, right) for left, right in pairwise(values) if _is_label(left))
    after = cells[at + 1 : at + 3]
    for low in after if after and _is_condition(after[0]) else after[:1]:
        if len(own) == len(low):
            yield from ((head, under) for head, under in zip(own, low, strict=True) if _is_label(head))


def _is_label(cell: str) -> bool:
    return len(cell) <= LONGEST_LABEL and not _PAIR.match(cell)


def _is_condition(cells: Sequence[str]) -> bool:
    """Whether the line between a label and a figure states a condition of the figure: words without digits."""
    return len(cells) == 1 and not any(map(str.isdigit, cells[0]))
