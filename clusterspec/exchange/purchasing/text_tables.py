"""Tables of quotes as text: in Markdown, or in columns separated by spaces, as in the output of ``pdftotext
-layout``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_GAP = re.compile(r"[ \t]{2,}|\t")
_RULE = re.compile(r"[\s|:=+_-]+")
SUM_NAME = re.compile(
    r"(?:(?:grand|net|gross|quote|order) )?(?:(?:sub|zwischen|netto|brutto|gesamt|end)[ -]?)?(?:total|summe?)\b"
    r"|(?:gesamt|end)(?:betrag|preis)?\b|partial_sum",
    re.IGNORECASE,
)
"""Words at the start of a row with a sum, in English and German."""
TAX_NAME = re.compile(
    r"(?:(?:zzgl|plus|incl|inkl|including|davon|of which)\b[. ]{0,3})?(?:(\d{1,2}(?:[.,]\d{1,2})?) ?% )?"
    r"(?:vat|gst|sales tax|tax|mwst|ust|mehrwertsteuer|umsatzsteuer|tva|iva|btw|moms)\b[.: ]{0,3}"
    r"\(?(?:(\d{1,2}(?:[.,]\d{1,2})?) ?%)?",
    re.IGNORECASE,
)
"""Words at the start of a row with the tax on the rows above, with the percentage before or after the name."""
_AMOUNT = re.compile(
    r"-?(?:[A-Z]{3}|[A-Z]{0,2}[$€£¥])? ?-?[1-9]\d{0,2}"
    r"(?:(?:[., ']\d{3}){1,4}(?:[.,]\d\d)?|[.,]\d\d)(?: ?(?:[A-Z]{3}|[€£]))?"
)
"""A cell with only an amount of money, with grouped thousands or cents."""
_DETAIL = re.compile(
    r"(?:[-–•*+] |(?:incl(?:uding|udes|\.)?|inkl(?:usive|\.)?|with|mit|each with|je)\b)", re.IGNORECASE
)
"""Words at the start of a line with details of the part in the row above."""
LONGEST_PART = 200
"""Maximum characters of a part's name with its details."""
Columns = Callable[[Sequence[str]], Mapping[str, int]]


def text_rows(text: str, columns_of: Columns) -> list[list[str]] | None:
    """The rows of a text with a table of prices, one per line of the text; None if there is no such table.

    A row of columns counts if it has as many cells as the header. A line below it that tells what the part includes is
    added to its name. In another row with figures, the whole text is the name of the part. If a row with one name, such
    as a sum, a tax or the freight, ends with an amount, the amount is the price.
    """
    lines = text.split("\n")
    split = _cells_of_page if any(line.lstrip().startswith("|") for line in lines) else _cells_of_columns
    rows = [[] if _RULE.fullmatch(line) else split(line) for line in lines]
    head = next((n for n, cells in enumerate(rows) if _is_header(columns_of(cells))), None)
    if head is None:
        return None
    columns, width = columns_of(rows[head]), len(rows[head])
    below = [_aligned_cells(cells, columns, width) for cells in rows[head + 1 :]]
    _join_details(rows[head + 1 :], below, columns, width)
    return [*([] if columns_of(cells) else cells for cells in rows[:head]), rows[head], *below]


def _join_details(rows: Sequence[list[str]], aligned: list[list[str]], columns: Mapping[str, int], width: int) -> None:
    """Append lines with details of a part to the name of the part above them, and clear their rows."""
    part = columns.get("part", columns.get("kind", 0))
    owner: list[str] | None = None
    for number, cells in enumerate(rows):
        if len(cells) == width:
            owner = aligned[number]
        elif owner is not None and len(cells) == 1 and _DETAIL.match(cells[0]):
            if len(owner[part]) + len(cells[0]) < LONGEST_PART:
                owner[part] = f"{owner[part]}, {cells[0].strip(' -–•*+')}"
                aligned[number] = []
        else:
            owner = None


def _is_header(columns: Mapping[str, int]) -> bool:
    """Whether a row names parts, quantities and a price. The price is required, since words of a log may look like the
    other two.
    """
    return "quantity" in columns and bool({"price", "unit_price"} & columns.keys())


def _cells_of_page(line: str) -> list[str]:
    """The cells of a row of Markdown.

    >>> _cells_of_page("| 4 | DGX H100 | 300,000 |"), _cells_of_page("text")
    (['4', 'DGX H100', '300,000'], [])
    """
    stripped = line.strip()
    return [cell.strip(" *`") for cell in stripped.strip("|").split("|")] if stripped.startswith("|") else []


def _cells_of_columns(line: str) -> list[str]:
    """The cells of a line, separated by two spaces or a tab.

    >>> _cells_of_columns("1   NVIDIA DGX H100    4    300,000.00")
    ['1', 'NVIDIA DGX H100', '4', '300,000.00']
    """
    return [cell for cell in _GAP.split(line.strip()) if cell]


def _aligned_cells(cells: list[str], columns: Mapping[str, int], width: int) -> list[str]:
    """A row with as many cells as the header. If the line has another number of cells, its text is put into the column
    of the part.
    """
    if len(cells) == width or not any(any(map(str.isdigit, cell)) for cell in cells):
        return cells if len(cells) == width else []
    row = [""] * width
    row[columns.get("part", columns.get("kind", 0))] = " ".join(cells)
    amount = len(cells) == 2 and _AMOUNT.fullmatch(cells[1])
    if (amount or (len(cells) > 1 and SUM_NAME.match(cells[0]))) and "price" in columns:
        row[columns.get("part", columns.get("kind", 0))] = " ".join(cells[:-1])
        row[columns["price"]] = cells[-1]
    return row
