"""Suppliers' quotes as CSV and XLSX: the lines that have a part, a quantity and a price.

A heading is the first row that names a part and a quantity. Numbers are read with thousands separators of either kind
where only one reading remains. XLSX goes through openpyxl, which computes no formulas; values as saved are read.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence

from clusterspec.exchange.files import LARGEST_STRUCTURED, InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal, Value

KIND = "quote"
MOST_ROWS = 20_000
MOST_LINES = 2_000
"""Lines of one quote; a spec holds no more values than that makes."""
MOST_COLUMNS = 200
_COLUMNS = {
    "kind": r"kind|category|type",
    "part": r"part|item|description|product|position|article|component",
    "quantity": r"(qty|quantity|count|units|amount of units|pcs|menge)\b.*",
    "unit_price": r"(unit|each|list|net)[ _-]*(unit[ _-]*)?(price|cost)|price[ _-]*(per|each|/)[ _-]*.*|unit",
    "price": r"(line|ext(ended)?\.?|total|sum)[ _-]*(price|cost|amount|total)?|price|amount|cost",
    "currency": r"currency|curr\.?",
}
_MARK = re.compile(r"USD|EUR|GBP|CHF|JPY|CNY|\$|€|£|¥")
_CODES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_SUM = re.compile(r"(grand |sub)?-?total\b|sum\b|partial_sum", re.IGNORECASE)
KINDS = {"node", "leaf_switch", "spine_switch", "core_switch", "cable", "transceiver", "nic"}

Row = Sequence[object]


def suits(file: InputFile) -> bool:
    if file.zipped:
        return True
    heads = [line for line in file.head.split("\n")[:40] if line.count(",") + line.count(";") + line.count("\t") >= 1]
    return any(_heading(cells) for cells in _delimited("\n".join(heads)) if cells)


def read(file: InputFile) -> Reading:
    """The lines of a quote. Raises `Refusal` where no row names parts and quantities."""
    notes = Notes(KIND, file.name)
    rows = _spreadsheet(file, notes) if file.zipped else enumerate(_delimited(_text(file)), 1)
    columns: dict[str, int] = {}
    currencies: set[str] = set()
    count = 0
    for number, row in rows:
        if number > MOST_ROWS:
            raise Refusal(f"has more than {MOST_ROWS:,} rows", number)
        cells = [_shown(cell) for cell in row[:MOST_COLUMNS]]
        if not columns:
            columns = _heading(cells)
            continue
        count += _line(cells, columns, notes, number, currencies)
    if not columns:
        raise Refusal("has no heading that names a part and a quantity")
    if not count:
        raise Refusal("has no line with a part and a quantity")
    notes.count("quote_lines", count)
    if len(currencies) == 1:
        notes.give("procurement.currency", currencies.pop())
    elif currencies:
        notes.unknown("procurement.currency", f"several: {', '.join(sorted(currencies))}")
    return notes.reading()


def _text(file: InputFile) -> str:
    if len(file.data) > LARGEST_STRUCTURED:
        raise Refusal(f"has more than {LARGEST_STRUCTURED >> 20} MiB, the most that is read of a quote")
    assert file.lines  # refuses lines that no tool writes
    return file.text


def _delimited(text: str) -> list[list[str]]:
    """The cells of a text; the delimiter is the one that its lines have most of."""
    sample = text[:4_000]
    delimiter = max(",;\t", key=sample.count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as fault:
        raise Refusal(f"no CSV: {fault}") from None


def _heading(cells: Iterable[str]) -> dict[str, int]:
    """Which column holds what; empty where a row is no heading."""
    found: dict[str, int] = {}
    for at, cell in enumerate(cells):
        plain = cell.strip().lower().strip(":#")
        for name, pattern in _COLUMNS.items():
            if name not in found and re.fullmatch(pattern, plain):
                found[name] = at
                break
    return found if "quantity" in found and {"part", "kind"} & set(found) else {}


def _line(cells: list[str], columns: dict[str, int], notes: Notes, number: int, currencies: set[str]) -> int:
    """Adds one line of the quote; 1 where it is one. Sums become the quoted total."""
    told = {name: cells[at].strip() if at < len(cells) else "" for name, at in columns.items()}
    currencies |= {_CODES.get(mark, mark) for text in told.values() for mark in _MARK.findall(text)[:1]}
    unit, whole = (_number(told.get(name, "")) for name in ("unit_price", "price"))
    part = told.get("kind") if told.get("kind") in KINDS else told.get("part") or told.get("kind") or ""
    if _SUM.match(part or "") or (told.get("kind") or "") == "total":
        if whole is not None and told.get("kind") != "partial_sum":
            notes.give("procurement.quoted_total", whole, number)
        return 0
    quantity = _number(told.get("quantity", ""))
    if not part and quantity is None:
        return 0
    if not part or quantity is None:
        notes.unknown(
            f"row {', '.join(c for c in cells if c)[:60]}", "no part, or no quantity that is a number", number
        )
        return 0
    if len(notes.given) >= MOST_LINES:
        raise Refusal(f"has more than {MOST_LINES:,} lines with a part and a quantity", number)
    if unit is None and whole is None:
        notes.unknown(f"price of {part[:60]}", "none that is one number", number)
    entry: dict[str, Value] = {"part": part[:200], "quantity": quantity, "unit_price": unit, "price": whole}
    notes.append("procurement.quote", {key: value for key, value in entry.items() if value is not None}, number)
    return 1


def _number(text: str) -> int | float | None:
    """A number with separators; None where it is none, or could be read in two ways.

    >>> _number("$1,234,567.50"), _number("1.234.567,50 EUR"), _number("310 000"), _number("1,234"), _number("n/a")
    (1234567.5, 1234567.5, 310000, 1234, None)
    """
    plain = re.sub(r"[A-Za-z$€£¥'’\s\u00a0\u202f]", "", text)
    if re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]{1,2})?|-?[0-9]+,[0-9]{1,2}", plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,6})?", plain):
        plain = plain.replace(",", "")
    if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,6})?", plain):
        return None
    value = float(plain)
    return int(value) if value == int(value) else value


def _shown(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.15g}"
    return str(cell)[:1_000]


def _spreadsheet(file: InputFile, notes: Notes) -> Iterator[tuple[int, Row]]:
    """The rows of the first sheet that has a heading. Raises `Refusal` for archives that unpack to too much."""
    _bounded(file)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise Refusal('XLSX needs openpyxl: pip install "clusterspec[xlsx]"') from None
    try:
        book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False)
        for name in book.sheetnames:
            sheet = book[name]
            rows = [
                tuple(row) for row in sheet.iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS, values_only=True)
            ]
            if any(_heading([_shown(cell) for cell in row]) for row in rows[:40]):
                notes.count("sheet", str(name)[:60])
                return iter(list(enumerate(rows, 1)))
    except Refusal:
        raise
    except Exception as fault:  # openpyxl raises many kinds for files that are no workbooks
        raise Refusal(f"is no workbook that can be read ({type(fault).__name__})") from None
    raise Refusal("no sheet has a heading that names a part and a quantity")


def _bounded(file: InputFile) -> None:
    """Refuses archives whose members unpack to more than is read, whatever their headers state."""
    if len(file.data) > LARGEST_STRUCTURED:
        raise Refusal(f"has more than {LARGEST_STRUCTURED >> 20} MiB, the most that is read of a workbook")
    most = 4 * LARGEST_STRUCTURED
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise Refusal("is a ZIP archive, and no XLSX workbook")
            left = most
            for member in archive.infolist():
                with archive.open(member) as part:
                    while left >= 0 and (chunk := part.read(1 << 20)):
                        left -= len(chunk)
                        if b"<!DOCTYPE" in chunk or b"<!ENTITY" in chunk:
                            raise Refusal("a document type or an entity is declared in it: workbooks need none")
                if left < 0:
                    raise Refusal(f"unpacks to more than {most >> 20} MiB, the most that is read of a workbook")
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as fault:
        raise Refusal(f"is no ZIP archive that can be read ({type(fault).__name__})") from None
    except zlib_error() as fault:
        raise Refusal(f"is no ZIP archive that can be read ({fault})") from None


def zlib_error() -> type[Exception]:
    """The fault of a damaged stream."""
    import zlib

    return zlib.error
