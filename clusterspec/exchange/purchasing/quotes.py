"""Suppliers' quotes as CSV and XLSX: the lines that have a part, a quantity and a price.

The header is the first row that names a part and a quantity. Numbers may have thousands separators of either kind if
the result is unambiguous. XLSX is read with openpyxl, which does not evaluate formulas; saved values are used.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, Value
from clusterspec.exchange.input_file import LARGEST_STRUCTURED, InputFile

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


def matches(file: InputFile) -> bool:
    if file.zipped:
        return True
    heads = [line for line in file.head.split("\n")[:40] if line.count(",") + line.count(";") + line.count("\t") >= 1]
    return any(_heading(cells) for cells in _delimited("\n".join(heads)) if cells)


def read(file: InputFile) -> ImportResult:
    """The lines of a quote. Raises `FormatError` if no row names parts and quantities."""
    builder = ImportBuilder(KIND, file.name)
    rows = _spreadsheet(file, builder) if file.zipped else enumerate(_delimited(_text(file)), 1)
    columns: dict[str, int] = {}
    currencies: set[str] = set()
    count = 0
    for number, row in rows:
        if number > MOST_ROWS:
            raise FormatError(f"has more than {MOST_ROWS:,} rows", number)
        cells = [_shown(cell) for cell in row[:MOST_COLUMNS]]
        if not columns:
            columns = _heading(cells)
            continue
        count += _line(cells, columns, builder, number, currencies)
    if not columns:
        raise FormatError("has no heading that names a part and a quantity")
    if not count:
        raise FormatError("has no line with a part and a quantity")
    builder.count("quote_lines", count)
    if len(currencies) == 1:
        builder.set("procurement.currency", currencies.pop())
    elif currencies:
        builder.unknown("procurement.currency", f"several: {', '.join(sorted(currencies))}")
    return builder.reading()


def _text(file: InputFile) -> str:
    if len(file.data) > LARGEST_STRUCTURED:
        raise FormatError(f"has more than {LARGEST_STRUCTURED >> 20} MiB, the maximum for a quote")
    assert file.lines  # refuses lines that no tool writes
    return file.text


def _delimited(text: str) -> list[list[str]]:
    """The cells of a text, split at its most frequent delimiter."""
    sample = text[:4_000]
    delimiter = max(",;\t", key=sample.count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as fault:
        raise FormatError(f"no CSV: {fault}") from None


def _heading(cells: Iterable[str]) -> dict[str, int]:
    """The column of each field; empty if a row is not a header."""
    found: dict[str, int] = {}
    for at, cell in enumerate(cells):
        plain = cell.strip().lower().strip(":#")
        for name, pattern in _COLUMNS.items():
            if name not in found and re.fullmatch(pattern, plain):
                found[name] = at
                break
    return found if "quantity" in found and {"part", "kind"} & set(found) else {}


def _line(cells: list[str], columns: dict[str, int], builder: ImportBuilder, number: int, currencies: set[str]) -> int:
    """Add a line of the quote; returns 1 if the row is one. Sums become the quoted total."""
    fields = {name: cells[at].strip() if at < len(cells) else "" for name, at in columns.items()}
    currencies |= {_CODES.get(mark, mark) for text in fields.values() for mark in _MARK.findall(text)[:1]}
    unit, whole = (_number(fields.get(name, "")) for name in ("unit_price", "price"))
    part = fields.get("kind") if fields.get("kind") in KINDS else fields.get("part") or fields.get("kind") or ""
    if _SUM.match(part or "") or (fields.get("kind") or "") == "total":
        if whole is not None and fields.get("kind") != "partial_sum":
            builder.set("procurement.quoted_total", whole, number)
        return 0
    quantity = _number(fields.get("quantity", ""))
    if not part and quantity is None:
        return 0
    if not part or quantity is None:
        builder.unknown(f"row {', '.join(c for c in cells if c)[:60]}", "no part, or no numeric quantity", number)
        return 0
    if len(builder.given) >= MOST_LINES:
        raise FormatError(f"has more than {MOST_LINES:,} lines with a part and a quantity", number)
    if unit is None and whole is None:
        builder.unknown(f"price of {part[:60]}", "not a single number", number)
    entry: dict[str, Value] = {"part": part[:200], "quantity": quantity, "unit_price": unit, "price": whole}
    builder.append("procurement.quote", {key: value for key, value in entry.items() if value is not None}, number)
    return 1


def _number(text: str) -> int | float | None:
    """A number with separators; None if it is not a number or is ambiguous.

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


def _spreadsheet(file: InputFile, builder: ImportBuilder) -> Iterator[tuple[int, Row]]:
    """The rows of the first sheet with a header. Raises `FormatError` for archives that unpack to too much."""
    _bounded(file)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise FormatError('XLSX needs openpyxl: pip install "clusterspec[xlsx]"') from None
    try:
        book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False)
        for name in book.sheetnames:
            sheet = book[name]
            rows = [
                tuple(row) for row in sheet.iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS, values_only=True)
            ]
            if any(_heading([_shown(cell) for cell in row]) for row in rows[:40]):
                builder.count("sheet", str(name)[:60])
                return iter(list(enumerate(rows, 1)))
    except FormatError:
        raise
    except Exception as fault:  # openpyxl raises many kinds for files that are no workbooks
        raise FormatError(f"is not a readable workbook ({type(fault).__name__})") from None
    raise FormatError("no sheet has a heading that names a part and a quantity")


def _bounded(file: InputFile) -> None:
    """Raises `FormatError` for archives that unpack to more than the maximum, whatever their headers state."""
    if len(file.data) > LARGEST_STRUCTURED:
        raise FormatError(f"has more than {LARGEST_STRUCTURED >> 20} MiB, the maximum for a workbook")
    most = 4 * LARGEST_STRUCTURED
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise FormatError("is a ZIP archive but not an XLSX workbook")
            left = most
            for member in archive.infolist():
                with archive.open(member) as part:
                    while left >= 0 and (chunk := part.read(1 << 20)):
                        left -= len(chunk)
                        if b"<!DOCTYPE" in chunk or b"<!ENTITY" in chunk:
                            raise FormatError("a document type or an entity is declared in it: workbooks need none")
                if left < 0:
                    raise FormatError(f"unpacks to more than {most >> 20} MiB, the maximum for a workbook")
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as fault:
        raise FormatError(f"is not a readable ZIP archive ({type(fault).__name__})") from None
    except zlib_error() as fault:
        raise FormatError(f"is not a readable ZIP archive ({fault})") from None


def zlib_error() -> type[Exception]:
    """The exception type of a damaged zlib stream."""
    import zlib

    return zlib.error
