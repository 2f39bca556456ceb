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
    assert lines(reading) == [("DGX H100, with support", 4, 300_000), ("QM9700 switch", 2, 30_000)]
    assert given(reading) == {"procurement.currency": "EUR", "procurement.quoted_total": 1_260_904.5}
    assert [each.at.line for each in reading.given if each.appended] == [4, 6]
    assert "row 3 Cable DAC 2m 9 100.50 904.50" in unknown(reading)


GERMAN = """\
Angebot Nr. 2026-4711                Datum: 12.10.2026
Beispiel GmbH, Hamburg               Gültig bis: 30.11.2026

Pos  Menge  Bezeichnung                   Einzelpreis EUR     Gesamtpreis EUR
1    4      Server mit 8x B300                 400.000,00        1.600.000,00
             inkl. 8x ConnectX-8 800 Gbit/s
2    2      Switch Q3400                       100.000,00          200.000,00
             Fracht                                                 10.000,00
             Zwischensumme netto                                 1.810.000,00
             zzgl. 19 % MwSt.                                      343.900,00
             Gesamt                                              2.153.900,00
Zahlungsziel 30 Tage netto.
"""


def test_the_total_is_the_last_sum_that_is_no_subtotal_and_the_tax_above_it_is_in_it() -> None:
    reading = read(GERMAN)  # 4 × 400,000 + 2 × 100,000 + 10,000 = 1,810,000; × 1.19 = 2,153,900
    assert given(reading) == {
        "procurement.as_of": "2026-10-12",
        "procurement.currency": "EUR",
        "procurement.quoted_total": 2_153_900,
        "procurement.tax": 0.19,
    }
    quoted = [each.value for each in reading.given if each.appended]
    assert [each["part"] for each in quoted if isinstance(each, dict)] == [
        "Server mit 8x B300, inkl. 8x ConnectX-8 800 Gbit/s", "Switch Q3400", "Fracht"
    ]  # fmt: skip
    assert quoted[2] == {"part": "Fracht", "price": 10_000}
    assert [(each.name, each.value) for each in reading.counts] == [("quote_lines", 3), ("valid_until", "2026-11-30")]
    assert "Zahlungsziel" in unknown(reading)


@pytest.mark.parametrize(
    ("foot", "total", "tax"),
    [
        ("Subtotal   1,810,000.00\nTotal   1,834,000.00", 1_834_000, None),
        ("Subtotal   1,810,000.00", 1_810_000, None),
        ("Total   1,810,000.00\nplus 19 % VAT   343,900.00", 1_810_000, None),  # the tax follows: not in the total
        ("Net total   1,810,000.00\nVAT (19 %)   343,900.00\nGrand total   2,153,900.00", 2_153_900, 0.19),
        ("Total   2,153,900.00\nincluding 19 % VAT   343,900.00", 2_153_900, 0.19),
        ("plus 19 % VAT\nTotal   1,810,000.00", 1_810_000, None),  # no amount of tax: none is added
    ],
)
def test_sums_and_taxes_below_the_lines(foot: str, total: float, tax: float | None) -> None:
    reading = read(f"Qty   Description   Unit price   Total\n2   DGX H100   $905,000.00   $1,810,000.00\n{foot}\n")
    assert given(reading).get("procurement.quoted_total") == total
    assert given(reading).get("procurement.tax") == tax
    assert lines(reading) == [("DGX H100", 2, 905_000)]


@pytest.mark.parametrize(
    "row", ["Phone   040.123.456", "Weight   1200", "Date   2026-12-15", "Article   SYS-822GA", "Ports   64"]
)
def test_a_name_next_to_a_number_that_is_no_amount_is_no_line(row: str) -> None:
    reading = read(f"Qty   Description   Unit price   Total\n2   DGX H100   $905,000.00   $1,810,000.00\n{row}\n")
    assert lines(reading) == [("DGX H100", 2, 905_000)]
    assert f"row {' '.join(row.split())}" in unknown(reading)


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
