"""Suppliers' quotes as CSV, XLSX and text: the lines with a part, a quantity and a price.

The header is the first row that names a part and a quantity. Rows above it may state the currency and the date. The
quoted total is in the last row with a total that is not a subtotal; it includes a tax if a row above it states one in
percent. One decimal mark applies to the whole file, see `exchange.purchasing.numbers`; a number that stays ambiguous is
listed with both readings. openpyxl reads XLSX without evaluating formulas: their saved values are used, and numeric
cells are used unchanged.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date

from clusterspec.exchange.import_result import (
    LARGEST_STRUCTURED,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    Value,
    excerpt,
)
from clusterspec.exchange.purchasing.numbers import CURRENCY, SYMBOLS, DecimalMark, Number, decimal_mark, written_number
from clusterspec.exchange.purchasing.text_tables import LONGEST_PART, SUM_NAME, TAX_NAME, text_rows
from clusterspec.records import dataclass
from clusterspec.standard import pattern

QUOTE = "quote"
MOST_ROWS = 20_000
MOST_LINES = 2_000
"""Maximum number of lines of a quote, so that a spec does not have too many values."""
MOST_COLUMNS = 200
LONGEST_HEADING = 100
"""Maximum length of a cell that can be the heading of a column."""
_COLUMNS: dict[str, tuple[str, ...]] = {
    "kind": (r"kind|category|type",),
    "part": (r"part|description|product|component|bezeichnung|beschreibung", r"item|article|artikel", r"position"),
    "quantity": (r"qty\.?|quantity|count|units|pcs|menge", r"(qty|quantity|count|units|amount of units|pcs|menge)\b.*"),
    "unit_price": (
        r"net[ _-]*(unit[ _-]*)?(price|cost)",
        r"(unit|each)[ _-]*(price|cost)|(price|cost)[ _-]*(per|each|/)[ _-]*.*|einzelpreis|stückpreis",
        r"list[ _-]*(unit[ _-]*)?(price|cost)",
        r"unit",
    ),
    "price": (
        r"(line|ext(ended)?\.?|total|sum)[ _-]*(price|cost|amount|total)|gesamtpreis",
        r"line|ext(ended)?\.?|total|sum|amount|gesamt|betrag",
        r"price|cost",
    ),
    "currency": (r"currency|curr\.?|währung",),
}
"""Patterns of the headings of each field, clearest first: ``Unit`` is a price only if no other heading is."""
_NUMBERS = ("quantity", "unit_price", "price")
_INCLUDED = re.compile(r"incl|inkl|davon|of which", re.IGNORECASE)
_SUBTOTAL = re.compile(r"sub|zwischen|partial", re.IGNORECASE)
KINDS = {"node", "leaf_switch", "spine_switch", "core_switch", "cable", "transceiver", "nic"}

Row = Sequence[object]


def matches_quote(file: InputFile) -> bool:
    if file.is_zip_archive:
        return True
    if file.head.startswith("#!"):  # a script, whose lists of words may name columns
        return False
    heads = [line for line in file.head.split("\n")[:40] if line.count(",") + line.count(";") + line.count("\t") >= 1]
    if any(_field_columns(cells) for cells in _delimited_cells("\n".join(heads)) if cells):
        return True
    return text_rows("\n".join(file.head.split("\n")[:200]), _field_columns) is not None


@dataclass(frozen=True)
class _QuoteRow:
    """A row below the header: its cells by field, and the line of the file."""

    cells: dict[str, object]
    line: int

    def text(self, field: str) -> str:
        return _cell_text(self.cells.get(field)).strip()

    @property
    def part(self) -> str:
        kind = self.text("kind")
        return kind if kind in KINDS else self.text("part") or kind

    @property
    def is_sum(self) -> bool:
        """Whether the row is a sum of other rows. If the row names no part, the word may be next to the amount."""
        titles = self.cells if not self.part and not self.text("quantity") else ()
        named = SUM_NAME.match(self.part) or any(SUM_NAME.match(self.text(name)) for name in titles)
        return self.text("kind") == "total" or bool(named)

    @property
    def is_subtotal(self) -> bool:
        return any(_SUBTOTAL.match(self.text(name)) for name in self.cells)

    @property
    def tax_share(self) -> float:
        """The tax rate in a row without a quantity, as a share of the other rows; 0 for other rows."""
        found = None if self.text("quantity") else TAX_NAME.match(self.part)
        percent = (found[1] or found[2]) if found is not None else None
        return float(percent.replace(",", ".")) / 100 if percent else 0.0

    @property
    def currencies(self) -> set[str]:
        """The currencies named in the prices and in the currency column."""
        stated = self.text("currency").upper()
        named = {stated} if re.fullmatch("[A-Z]{3}", stated) else set()
        marks = (CURRENCY.search(self.text(field)) for field in ("unit_price", "price", "currency"))
        return named | {SYMBOLS.get(mark[0], mark[0]) for mark in marks if mark}

    def number(self, field: str, mark: DecimalMark) -> Number | None:
        """The number in a cell: as stored in a workbook, else the text read with the decimal mark of the file."""
        cell = self.cells.get(field)
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            return int(cell) if cell == int(cell) else cell
        return mark.value(self.text(field), field)


def read_quote(file: InputFile) -> ImportResult:
    """The lines of a quote. Raises `FormatError` if no row names parts and quantities."""
    builder = ImportBuilder(QUOTE, file.name)
    rows, named, above = _quote_rows(file, builder)
    mark = decimal_mark((name, row.text(name)) for row in rows for name in _NUMBERS if _is_text(row.cells.get(name)))
    currencies = named.union(*(row.currencies for row in rows))
    prices = len(currencies) <= 1
    count = sum(_add_quote_line(row, mark, builder, prices=prices) for row in rows)
    if not count:
        raise FormatError("has no line with a part and a quantity")
    if prices:
        _set_total([row for row in rows if row.is_sum], [row for row in rows if row.tax_share], mark, builder)
    builder.count("quote_lines", count)
    builder.set("procurement.as_of", above.get("date"))
    builder.count("valid_until", above.get("valid_until"))
    if prices:
        builder.set("procurement.currency", next(iter(currencies), None))
    else:
        why = "a spec has one currency, and amounts of several do not add: prices are left out"
        builder.unknown(f"prices in {' and '.join(sorted(currencies))}", why)
    return builder.reading()


def _quote_rows(file: InputFile, builder: ImportBuilder) -> tuple[list[_QuoteRow], set[str], dict[str, str]]:
    """The rows below the header, the currencies named in or above it, and what `_stated_above` reads above it."""
    rows = _spreadsheet_rows(file, builder) if file.is_zip_archive else enumerate(_rows_of_text(_decoded_text(file)), 1)
    columns: dict[str, int] = {}
    named: set[str] = set()
    above: dict[str, str] = {}
    found = []
    for number, row in rows:
        if number > MOST_ROWS:
            raise FormatError(f"has more than {MOST_ROWS:,} rows", number)
        if not columns:
            heads = [_cell_text(cell) for cell in row[:MOST_COLUMNS]]
            columns = _field_columns(heads)
            marks = (CURRENCY.search(heads[columns[name]]) for name in ("unit_price", "price") if name in columns)
            named = {SYMBOLS.get(mark[0], mark[0]) for mark in marks if mark}
            above |= {} if columns else _stated_above(heads)
            continue
        found.append(_QuoteRow({name: row[at] for name, at in columns.items() if at < len(row)}, number))
    if not columns:
        raise FormatError("has no heading that names a part and a quantity")
    return found, named or {above[name] for name in ("currency",) if name in above}, above


def _stated_above(cells: Sequence[str]) -> dict[str, str]:
    """The currency, the date and the end of validity that a row above the table states, the days as ISO.

    A label and its value stand in two cells, or in one with a colon or a space between them.

    >>> _stated_above(["Currency:", "EUR"]), _stated_above(["Quotation date", "", "14.10.2026"])
    ({'currency': 'EUR'}, {'date': '2026-10-14'})
    >>> _stated_above(["Quote 17", "Date: 2026-10-20", "Valid through 2026-12-15"])
    {'date': '2026-10-20', 'valid_until': '2026-12-15'}
    >>> _stated_above(["Date", "10/11/2026"]), _stated_above(["Vendor", "EUR GmbH"])
    ({}, {})
    """
    texts = [text for cell in cells if (text := cell.strip(" :"))]
    label, value, *_ = [*texts, "", ""]
    if pattern(_COLUMNS["currency"][0]).fullmatch(label.lower()) and pattern("[A-Z]{3}").fullmatch(value):
        return {"currency": value}
    found: dict[str, str] = {}
    for text in [f"{label}: {value}", *texts]:
        stated = pattern(r"([^\W\d][\w -]{2,30}?)[: ]{1,3}([\d.-]{8,10})(?:[ T]00:00:00)?").fullmatch(text)
        name = next(
            (name for name, words in _DAYS.items() if stated and pattern(words).fullmatch(stated[1].lower())), ""
        )
        if stated is not None and name and (day := _iso_day(stated[2])):
            found.setdefault(name, day)
    return found


_DAYS = {
    "date": r"(?:(?:quot(?:e|ation)|offer|angebots)[ -]?)?dat(?:e|um)",
    "valid_until": r"(?:(?:quote|offer|angebot) )?(?:valid (?:until|through|to)|expires(?: on)?|gültig bis)(?: zum)?",
}
"""The words before a date above the table of a quote, by the kind of date."""


def _iso_day(text: str) -> str | None:
    """A date written as 2026-10-14 or 14.10.2026, in ISO form; None for other texts and for dates that do not exist."""
    with suppress(ValueError):  # no such day
        if day := pattern(r"(\d{4})-(\d\d)-(\d\d)").fullmatch(text):
            return date(int(day[1]), int(day[2]), int(day[3])).isoformat()
        if day := pattern(r"(\d\d?)\.(\d\d?)\.(\d{4})").fullmatch(text):
            return date(int(day[3]), int(day[2]), int(day[1])).isoformat()
    return None


def _is_text(cell: object) -> bool:
    return isinstance(cell, str)


def _decoded_text(file: InputFile) -> str:
    if len(file.data) > LARGEST_STRUCTURED:
        raise FormatError(f"has more than {LARGEST_STRUCTURED >> 20} MiB, the maximum for a quote")
    assert file.lines  # refuses lines that no tool writes
    return file.text


def _rows_of_text(text: str) -> list[list[str]]:
    """The rows of a text: delimited cells; if these have no header, a table in columns or in Markdown."""
    rows = _delimited_cells(text)
    if any(_field_columns(cells) for cells in rows[:MOST_ROWS]):
        return rows
    return text_rows(text, _field_columns) or rows


def _delimited_cells(text: str) -> list[list[str]]:
    """The cells of a text, split at its most frequent delimiter."""
    sample = text[:4_000]
    delimiter = max(",;\t", key=sample.count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as fault:
        raise FormatError(f"no CSV: {fault}") from None


def _field_columns(cells: Iterable[str]) -> dict[str, int]:
    """The column of each field; empty if a row is not a header. If several headings fit a field, the clearest is used.

    >>> _field_columns(["Qty", "Unit", "Description", "Unit Price", "Total"])
    {'part': 2, 'quantity': 0, 'unit_price': 3, 'price': 4}
    >>> _field_columns(["Pos", "Item", "Qty", "Price (EUR)", "Total"])
    {'part': 1, 'quantity': 2, 'price': 4, 'unit_price': 3}
    """
    ranked: dict[str, list[tuple[int, int]]] = {}
    for at, cell in enumerate(cells):
        bare = CURRENCY.sub("", cell[:LONGEST_HEADING])
        plain = re.sub(r"[\[(][^\])]{0,8}[\])]|\bin\b", "", bare).strip().lower().strip(":#").strip()
        for name, patterns in _COLUMNS.items():
            rank = next((rank for rank, pattern in enumerate(patterns) if re.fullmatch(pattern, plain)), None)
            if rank is not None:
                ranked.setdefault(name, []).append((rank, at))
                break
    found = {name: min(ranked[name])[1] for name in _COLUMNS if name in ranked}
    prices = sorted(ranked.get("price", ()))
    if "unit_price" not in found and len(prices) > 1 and prices[0][0] < 2 == prices[-1][0]:
        found["unit_price"] = next(at for rank, at in prices if rank == 2)
    return found if "quantity" in found and {"part", "kind"} & set(found) else {}


def _set_total(
    sums: Sequence[_QuoteRow], taxes: Sequence[_QuoteRow], mark: DecimalMark, builder: ImportBuilder
) -> None:
    """Set the quoted total and its tax from the last row with a total; a subtotal is used only if there is no total."""
    for row in sums:
        _report_unread(row, ("price",), mark, builder, "the total")
    found = [row for row in sums if row.number("price", mark) is not None and row.text("kind") != "partial_sum"]
    totals = [row for row in found if not row.is_subtotal] or found
    if not totals:
        return
    last = totals[-1]
    amount = last.number("price", mark)
    for row in totals[:-1]:
        if row.number("price", mark) != amount:
            builder.unknown(f"total of {row.number('price', mark):,}", f"line {last.line} has a later one", row.line)
    builder.set("procurement.quoted_total", amount, last.line)
    for row in taxes:
        if row.number("price", mark) is not None and (row.line < last.line or _INCLUDED.match(row.part)):
            builder.set("procurement.tax", row.tax_share, row.line)
            return


def _add_quote_line(row: _QuoteRow, mark: DecimalMark, builder: ImportBuilder, *, prices: bool) -> int:
    """Add a line of the quote; returns 1 if the row is one, else 0. A row with only a name and an amount gets no
    quantity.
    """
    quantity, unit, whole = (row.number(name, mark) for name in _NUMBERS)
    part, number = row.part, row.line
    if row.is_sum or row.tax_share or (not part and quantity is None):
        return 0
    lump = bool(prices and part and whole is not None and unit is None and not row.text("quantity"))
    if not lump and (not part or quantity is None):
        shown = ", ".join(text for name in row.cells if (text := row.text(name)))
        why = _ambiguity_text(row, "quantity", mark) or "no part, or no numeric quantity"
        builder.unknown(f"row {excerpt(shown)}", why, number)
        return 0
    if len(builder.given) >= MOST_LINES:
        raise FormatError(f"has more than {MOST_LINES:,} lines with a part and a quantity", number)
    entry: dict[str, Value] = {"part": part[:LONGEST_PART]}
    if quantity is not None:
        entry["quantity"] = quantity
    if prices:
        _report_unread(row, ("unit_price", "price"), mark, builder, part)
        entry |= {name: value for name, value in (("unit_price", unit), ("price", whole)) if value is not None}
    builder.append("procurement.quote", entry, number)
    return 1


def _report_unread(row: _QuoteRow, fields: Sequence[str], mark: DecimalMark, builder: ImportBuilder, what: str) -> None:
    """Report the ambiguous prices of a row, or that it has no price that is a number."""
    unclear = [why for field in fields if (why := _ambiguity_text(row, field, mark))]
    if not unclear and all(row.number(field, mark) is None for field in fields):
        unclear = ["not a single number"]
    for why in unclear:
        builder.unknown(f"price of {excerpt(what)}", why, row.line)


def _ambiguity_text(row: _QuoteRow, field: str, mark: DecimalMark) -> str:
    """Both readings of an ambiguous number; empty if the number was read, or if there is none."""
    text = row.text(field)
    if row.number(field, mark) is not None or not (found := written_number(text)).ambiguous:
        return ""
    why = "other numbers use either mark" if mark.mark else "no other number tells the decimal mark"
    return f"{excerpt(text)} is {found.readings_text()}: {why}; write one price with its cents, such as 36,000.00"


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.15g}"
    return str(cell)[:1_000]


def _spreadsheet_rows(file: InputFile, builder: ImportBuilder) -> Iterator[tuple[int, Row]]:
    """The rows of the first sheet with a header. Raises `FormatError` for archives that unpack to too much."""
    _check_unpacked_size(file)
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
            if any(_field_columns([_cell_text(cell) for cell in row]) for row in rows[:40]):
                builder.count("sheet", excerpt(name))
                return iter(list(enumerate(rows, 1)))
    except FormatError:
        raise
    except Exception as fault:  # openpyxl raises many kinds for files that are no workbooks
        raise FormatError(f"is not a readable workbook ({type(fault).__name__})") from None
    raise FormatError("no sheet has a header row with a part and a quantity column")


def _check_unpacked_size(file: InputFile) -> None:
    """Raises `FormatError` for archives that unpack to more than the maximum; the sizes in their headers are not
    trusted.
    """
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
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError) as fault:
        raise FormatError(f"is not a readable ZIP archive ({type(fault).__name__})") from None
    except zlib_error() as fault:
        raise FormatError(f"is not a readable ZIP archive ({fault})") from None


def zlib_error() -> type[Exception]:
    """The exception type of a damaged zlib stream."""
    import zlib

    return zlib.error
