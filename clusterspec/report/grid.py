"""Tables and bars for terminals, with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest

from clusterspec.patterns import pattern
from clusterspec.report.ink import PLAIN, Ink, plain, wrapped
from clusterspec.results.cells import safe

EIGHTHS = " ▏▎▍▌▋▊▉"
NARROWEST = 16
"""Columns below which wrapping a cell makes it worse."""
_PAINT = pattern(r"\x1b\[[0-9;]*m")


def wide(text: str) -> int:
    """The width of a text on a terminal, without color codes."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in _PAINT.sub("", text)
    )


def grid(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Iterable[int] = (),
    wrap: Collection[int] = (),
    ink: Ink = PLAIN,
) -> str:
    """Rows under headings, two spaces apart; the columns in ``right`` are right-aligned.

    If the rows are wider than the terminal, the cells of the columns in ``wrap`` are wrapped.
    """
    aligned = set(right)
    widths = [max(wide(row[k]) for row in [heads, *rows]) for k in range(len(heads))]
    least = {k: max(wide(word) for row in [heads, *rows] for word in ("", *row[k].split())) for k in wrap}
    widths = _fitted(widths, least, ink.width)

    def line(cells: Sequence[str]) -> str:
        shown = [
            " " * (width - wide(cell)) + cell if k in aligned else cell + " " * (width - wide(cell))
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(shown).rstrip()

    def lines(cells: Sequence[str]) -> list[str]:
        parts = [wrapped(cell, widths[k]) if wide(cell) > widths[k] else [cell] for k, cell in enumerate(cells)]
        return [line(each) for each in zip_longest(*parts, fillvalue="")]

    body = [text for row in rows for text in lines(row)]
    return "".join(text + "\n" for text in [ink.paint("dim", line(heads)), *body])


def _fitted(widths: list[int], least: Mapping[int, int], columns: int) -> list[int]:
    """The widths, with those in ``least`` reduced, widest first, until they fit ``columns`` or reach their minimum."""
    fitted = list(widths)
    for _ in range(sum(widths) + 2 * (len(widths) - 1) - columns):
        slack = [k for k in least if fitted[k] > max(least[k], NARROWEST)]
        if not slack:
            break
        fitted[max(slack, key=lambda k: fitted[k])] -= 1
    return fitted


def bar(share: float, width: int = 20) -> str:
    """A bar that fills a fraction of ``width`` columns, in steps of an eighth.

    >>> bar(0.5, 4)
    '██'
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def separated(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values with a header; cells are escaped so that spreadsheets read none as a formula."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([safe(plain(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
