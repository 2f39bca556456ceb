"""Tables of quotes as text: in Markdown, and in columns apart by spaces, as ``pdftotext -layout`` writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_GAP = re.compile(r"[ \t]{2,}|\t")
_RULE = re.compile(r"[\s|:=+_-]+")
_SUM = re.compile(r"(?:grand |sub)?-?total\b|sum\b|gesamt", re.IGNORECASE)
Columns = Callable[[Sequence[str]], Mapping[str, int]]


def text_rows(text: str, columns_of: Columns) -> list[list[str]] | None:
    """The rows of a text with a table of prices, one for each line, empty above its header; None if there is none.

    A row of columns counts if it has as many cells as the header. Of another row with figures, the whole text stands
    in the column of parts, and the last cell of a total in that of prices, so that it is listed or added as such.
    """
    lines = text.split("\n")
    split = _cells_of_page if any(line.lstrip().startswith("|") for line in lines) else _cells_of_columns
    rows = [[] if _RULE.fullmatch(line) else split(line) for line in lines]
    head = next((n for n, cells in enumerate(rows) if _is_header(columns_of(cells))), None)
    if head is None:
        return None
    columns, width = columns_of(rows[head]), len(rows[head])
    below = [_aligned_cells(cells, columns, width) for cells in rows[head + 1 :]]
    return [*([] for _ in range(head)), rows[head], *below]


def _is_header(columns: Mapping[str, int]) -> bool:
    """Whether a row names parts, quantities and a price: two words of a log may look like the first two."""
    return "quantity" in columns and bool({"price", "unit_price"} & columns.keys())


def _cells_of_page(line: str) -> list[str]:
    """The cells of a row of Markdown.

    >>> _cells_of_page("| 4 | DGX H100 | 300,000 |"), _cells_of_page("text")
    (['4', 'DGX H100', '300,000'], [])
    """
    stripped = line.strip()
    return [cell.strip(" *`") for cell in stripped.strip("|").split("|")] if stripped.startswith("|") else []


def _cells_of_columns(line: str) -> list[str]:
    """The cells of a line, which two spaces or a tab part.

    >>> _cells_of_columns("1   NVIDIA DGX H100    4    300,000.00")
    ['1', 'NVIDIA DGX H100', '4', '300,000.00']
    """
    return [cell for cell in _GAP.split(line.strip()) if cell]


def _aligned_cells(cells: list[str], columns: Mapping[str, int], width: int) -> list[str]:
    """A row with the cells of the header, or with its text in one of them."""
    if len(cells) == width or not any(any(map(str.isdigit, cell)) for cell in cells):
        return cells if len(cells) == width else []
    row = [""] * width
    row[columns.get("part", columns.get("kind", 0))] = " ".join(cells)
    if len(cells) > 1 and _SUM.match(cells[0]) and "price" in columns:
        row[columns.get("part", columns.get("kind", 0))] = " ".join(cells[:-1])
        row[columns["price"]] = cells[-1]
    return row
