"""Quotes as tables in text, and files that are no text."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, ImportResult
from tests.exchange.imports import given, read, unknown

COLUMNS = """\
Quotation 2026-114
Pos   Description                 Qty    Unit price (EUR)        Total
----  --------------------------  ---    ----------------  -----------
1     DGX H100                      4          300,000.00 1,200,000.00
      with support
2     QM9700 switch                 2           30,000.00    60,000.00
3     Cable  DAC 2m                 9              100.50       904.50
      Total                                               1,260,904.50
"""
PAGE = """\
| Item | Description | Qty | Unit price | Total |
| :-- | --- | --: | --: | --: |
| 1 | **DGX H100** | 4 | $300,000.00 | $1,200,000.00 |
| 2 | QM9700 | 2 | $30,000.00 | $60,000.00 |
"""


def lines(reading: ImportResult) -> list[tuple[object, object, object]]:
    quoted = [each.value for each in reading.given if each.appended]
    return [(each["part"], each["quantity"], each["unit_price"]) for each in quoted if isinstance(each, dict)]


def test_columns_apart_by_spaces_are_rows_of_a_quote() -> None:
    apart = COLUMNS.replace("300,000.00 1,200", "300,000.00   1,200")
    reading = read(apart)
    assert lines(reading) == [("DGX H100", 4, 300_000), ("QM9700 switch", 2, 30_000)]
    assert given(reading) == {"procurement.currency": "EUR", "procurement.quoted_total": 1_260_904.5}
    assert [each.at.line for each in reading.given if each.appended] == [4, 6]
    assert "row 3 Cable DAC 2m 9 100.50 904.50" in unknown(reading)


def test_a_row_whose_cells_run_together_is_listed_not_shifted() -> None:
    reading = read(COLUMNS)  # one space alone parts the two prices of the first row
    assert lines(reading) == [("QM9700 switch", 2, 30_000)]
    assert "row 1 DGX H100 4 300,000.00 1,200,000.00" in unknown(reading)


def test_a_table_of_a_page_is_a_quote() -> None:
    reading = read("# Offer\n\n" + PAGE)
    assert lines(reading) == [("DGX H100", 4, 300_000), ("QM9700", 2, 30_000)]
    assert given(reading)["procurement.currency"] == "USD"


@pytest.mark.parametrize(
    "text", ["size  count  type  redop\n8  2  float  sum\n", "| Type | Count |\n| - | - |\n| a | 2 |\n"]
)
def test_a_table_without_prices_is_no_quote(text: str) -> None:
    with pytest.raises(FormatError, match="matches no import format"):
        read(text)


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "is a PDF: save its table as CSV or XLSX, or its text with `pdftotext -layout`"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as XLSX or CSV"),
        (b"\x1f\x8b\x08\x00", r"is compressed \(gzip\): unpack it first"),
        (b"\x89PNG\r\n", "is an image"),
    ],
)
def test_files_that_are_no_text_are_refused_with_what_to_do(data: bytes, advice: str) -> None:
    for kind in ("auto", "quote", "megatron"):
        with pytest.raises(FormatError, match=advice):
            read(data, kind)
