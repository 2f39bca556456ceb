"""Tables and bars for terminals: columns aligned by what they hold, nothing painted twice."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

from clusterspec.report.ink import PLAIN, Ink

EIGHTHS = " ▏▎▍▌▋▊▉"


def wide(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), ink: Ink = PLAIN) -> str:
    """Rows under heads, two spaces apart; the columns in ``right`` are set to the right."""
    columns = set(right)
    widths = [max(wide(row[k]) for row in [heads, *rows]) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        shown = [
            " " * (width - wide(cell)) + cell if k in columns else cell + " " * (width - wide(cell))
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(shown).rstrip()

    return "".join(text + "\n" for text in [ink.paint("dim", line(heads)), *map(line, rows)])


def bar(share: float, width: int = 20) -> str:
    """A bar that fills a share of some columns, to an eighth of a column.

    >>> bar(0.5, 4)
    '██'
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def separated(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values with a head line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return out.getvalue()
