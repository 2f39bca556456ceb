"""Widths of the columns of printed tables.

Measuring every cell takes a quarter of the time of a PDF, so the columns are measured here from the advance widths of
the font, and divided as browsers divide a table: all lines unbroken if they fit; else each column gets the width of its
words and a part of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from clusterspec.report import unbroken_numbers
from clusterspec.report.charts.svg import text_width
from clusterspec.report.paper.blocks import PaperTable
from clusterspec.standard import sum_of

PAGE, HALF = 180.0, 87.0
"""Millimeters between the margins of a page, and of one of two adjacent blocks."""
BODY, HEAD = 8 * 25.4 / 72, 7.6 * 25.4 / 72
"""Size of the font in cells and in heads, in mm."""
PADDING = 2.5
INDENT = 3.6
"""Millimeters between columns, and by which a row is indented for each level of depth."""
SPARE = 1.02
"""The ratio of a text's width, with kerning and code spans, to the sum of its advance widths."""


def column_shares(table: PaperTable, *, half: bool = False) -> tuple[float, ...]:
    """Width of each column in percent of the table; empty for a table whose style states its widths."""
    if table.code or table.form or table.field == "purchase.gates":
        return ()
    least, most = zip(*(_column_width_bounds(table, number) for number in range(len(table.columns))), strict=True)
    widths = divided_width(least, most, HALF if half else PAGE)
    return tuple(round(100 * width / sum_of(widths), 2) for width in widths)


def fits_half_width(table: PaperTable) -> bool:
    """Whether no word of the table is broken on half the width of a page."""
    ends = (_column_width_bounds(table, number) for number in range(len(table.columns)))
    return sum_of(least for least, _ in ends) <= HALF


def divided_width(least: Sequence[float], most: Sequence[float], width: float) -> list[float]:
    """The column widths of a table, given for each column its minimum (``least``) and its width without line breaks
    (``most``). A line longer than the table counts as long as the table: it is broken in any case, and takes no width
    from columns whose lines fit.

    >>> divided_width([1.0, 1.0], [2.0, 4.0], 12.0), divided_width([1.0, 1.0], [2.0, 4.0], 4.0)
    ([4.0, 8.0], [1.5, 2.5])
    >>> divided_width([1.0, 3.0], [2.0, 4.0], 2.0)
    [0.5, 1.5]
    >>> divided_width([1.0, 1.0], [2.0, 100.0], 4.0)
    [1.5, 2.5]
    """
    most = [min(line, width) for line in most]
    words, lines = sum_of(least), sum_of(most)
    if lines <= width:
        return [one * width / lines for one in most]
    if words >= width:
        return [one * width / words for one in least]
    share = (width - words) / (lines - words)
    return [low + (high - low) * share for low, high in zip(least, most, strict=True)]


def _column_width_bounds(table: PaperTable, number: int) -> tuple[float, float]:
    """Minimum and maximum width of a column, from its longest word and its longest line. Right-aligned numbers are
    never broken.
    """
    column, first, last = table.columns[number], number == 0, number == len(table.columns) - 1
    padding = 0.0 if last else PADDING
    least, most = _text_width_bounds(column.label, HEAD, bold=True)
    for row in table.rows:
        if number < len(row.cells):
            text, indent = unbroken_numbers(row.cells[number].replace("`", "")), INDENT * row.depth * first
            bold = first or row.total or number in row.best or (last and row.tone != "plain")
            word, line = _text_width_bounds(text, BODY, bold=bold)
            least = max(least, indent + (line if column.align == "right" else word))
            most = max(most, indent + line)
    return least + padding, most + padding


def _text_width_bounds(text: str, size: float, *, bold: bool) -> tuple[float, float]:
    """The widths of the longest word of a text and of its line, in mm."""
    words = [_word_width(word, bold) for word in text.split(" ")]
    space = (len(words) - 1) * _word_width(" ", bold)
    return SPARE * size * max(words), SPARE * size * (sum_of(words) + space)


@cache
def _word_width(word: str, bold: bool) -> float:
    """The width of a word at size 1; all digits are as wide as a zero."""
    return text_width(word.replace("1", "0"), 1.0, bold=bold)
