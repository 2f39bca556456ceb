"""Limits of imported quotes, at the limit and next to it, and each value of a line."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.purchasing import quotes
from clusterspec.exchange.purchasing.quotes import MOST_COLUMNS, MOST_LINES, MOST_ROWS, read_quote
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

HEAD = "Part,Quantity,Unit price,Total\n"


def entries(text: str) -> list[dict[str, object]]:
    return [one.value for one in read(text, "quote").given if isinstance(one.value, dict)]


def test_a_line_gives_its_part_quantity_and_prices_and_its_own_line() -> None:
    reading = read(f"{HEAD}DGX H100,4,300000,1200000\nleaf switch,2,36000,72000\nTotal,,,1272000\n", "quote")
    assert [(one.value, one.at.line) for one in reading.given if one.appended] == [
        ({"part": "DGX H100", "quantity": 4, "unit_price": 300_000, "price": 1_200_000}, 2),
        ({"part": "leaf switch", "quantity": 2, "unit_price": 36_000, "price": 72_000}, 3),
    ]
    assert counts(reading) == {"quote_lines": 2}
    assert given(reading) == {"procurement.quoted_total": 1_272_000}


@each(("more", "refused"), [(0, False), (1, True)])
def test_a_quote_has_at_most_two_thousand_lines(more: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_LINES == 2_000
    monkeypatch.setattr(quotes, "MOST_LINES", 200)
    text = HEAD + "node,1,2,2\n" * (200 + more)
    if not refused:
        assert counts(read(text, "quote"))["quote_lines"] == 200
        return
    with pytest.raises(FormatError, match="line 202: has more than 200 lines with a part and a quantity"):
        read(text, "quote")


@each(("more", "refused"), [(0, False), (1, True)])
def test_a_quote_has_at_most_twenty_thousand_rows(more: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_ROWS == 20_000
    monkeypatch.setattr(quotes, "MOST_ROWS", 2_000)
    text = HEAD + "node,1,2,2\n" + "\n" * (2_000 - 2 + more)
    if not refused:
        assert counts(read_quote(InputFile("quote.csv", text.encode())))["quote_lines"] == 1
        return
    with pytest.raises(FormatError, match="has more than 2,000 rows"):
        read_quote(InputFile("quote.csv", text.encode()))


@each(("columns", "read_price"), [(MOST_COLUMNS, True), (MOST_COLUMNS + 1, False)])
def test_headings_are_read_in_the_first_two_hundred_columns(columns: int, read_price: bool) -> None:
    assert MOST_COLUMNS == 200
    gap = "," * (columns - 2)
    (line,) = entries(f"Part,Quantity{gap}Unit price\nnode,1{gap}2500\n")
    assert (line.get("unit_price") == 2500) is read_price


def test_a_long_part_is_cut_and_rows_without_a_number_are_told() -> None:
    reading = read(f"{HEAD}{'n' * 201},1,2,2\n{'x' * 70},many,2,2\n", "quote")
    (line,) = (one.value for one in reading.given if isinstance(one.value, dict))
    assert line["part"] == "n" * 200
    assert f"row {'x' * 60}: no part, or no numeric quantity" in unknown(reading)


def test_amounts_of_several_currencies_are_left_out() -> None:
    reading = read("Part,Quantity,Unit price,Total\nnode,1,USD 2,USD 2\nrack,1,EUR 3,EUR 3\n", "quote")
    assert [one.value for one in reading.given] == [{"part": "node", "quantity": 1}, {"part": "rack", "quantity": 1}]
    assert "prices in EUR and USD: a spec has one currency" in unknown(reading)
