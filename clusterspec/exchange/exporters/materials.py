"""Bill of materials as CSV and XLSX, with the columns that `import quotes` reads."""

from __future__ import annotations

import io
import re
import zipfile

from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, MissingPart, NotExportable, table
from clusterspec.exchange.purchasing.numbers import written_number
from clusterspec.procurement.item import Item
from clusterspec.results.cells import safe

DAY = (1980, 1, 1, 0, 0, 0)
"""The time of each part of a spreadsheet, the first that the ZIP format has, so that equal bills are equal files."""
HEADS = ("kind", "part", "quantity", "unit_price", "price", "currency", "derivation")


def _rows(source: ExportInput) -> list[tuple[object, ...]]:
    items = source.bill.items
    if not items:
        raise MissingPart(f"nothing can be counted: {source.bill.why}")
    return [_row(item) for item in items]


def _row(item: Item) -> tuple[object, ...]:
    unit, whole = (_amount(price.price if price else None) for price in (item.unit_price, item.price))
    return (item.kind, item.part, item.quantity, unit, whole, item.currency, item.derivation)


def _amount(price: object) -> object:
    """A price as a number, a range as two numbers with a dash, an empty cell without a price."""
    if isinstance(price, tuple):
        return f"{price[0]:.15g} - {price[1]:.15g}"
    return price


def _unambiguous(cell: object) -> object:
    """A number as text that has one reading: 12.375 with a fourth decimal, since 12.375 may also be 12,375."""
    if isinstance(cell, float) and written_number(text := f"{cell:.15g}").ambiguous:
        return f"{text}0"
    return cell


def as_csv(source: ExportInput) -> ExportedFile:
    """One row per item."""
    rows = [tuple(_unambiguous(cell) for cell in row) for row in _rows(source)]
    return ExportedFile(table(HEADS, rows))


def as_xlsx(source: ExportInput) -> ExportedFile:
    """One sheet with one row per item. Raises `NotExportable` if openpyxl is missing."""
    try:
        from openpyxl import Workbook
    except ImportError:
        raise NotExportable('XLSX needs openpyxl: pip install "clusterspec[xlsx]"') from None
    rows = _rows(source)
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Bill of materials"
    sheet.append(list(HEADS))
    for row in rows:
        sheet.append([safe(cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return ExportedFile(undated(out.getvalue()))


def undated(workbook: bytes) -> bytes:
    """A spreadsheet without the time at which it was written, which openpyxl puts into it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"<dcterms:(created|modified)\b[^<]{0,200}</dcterms:\1>", b"", content)
            made.writestr(zipfile.ZipInfo(name, DAY), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
