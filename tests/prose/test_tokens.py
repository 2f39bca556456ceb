"""Tokens: the value, range, unit and last digit of figures as people write them, and their places."""

from __future__ import annotations

import pytest

from clusterspec.prose.blocks import ProseLine
from clusterspec.prose.tokenize import (
    MAX_TOKENS,
    MAX_VALUE,
    TextProblem,
    Token,
    TokenKind,
    token_with_unit,
    tokens,
    unit_in_heading,
)
from tests.effort import each


def read(text: str) -> list[Token]:
    return tokens([ProseLine(7, text, 2)])


@each(
    ("text", "low", "high", "unit", "step"),
    [
        ("400 Gb/s", 50e9, 50e9, "B/s", 20e9 / 8),  # a twentieth of 400, below the 100 of its last nonzero digit
        ("190 GB", 190e9, 190e9, "B", 9.5e9),
        ("20 GB", 20e9, 20e9, "B", 1e9),
        ("12 GB", 12e9, 12e9, "B", 1e9),
        ("3.35 TB/s", 3.35e12, 3.35e12, "B/s", 0.01e12),
        ("3.50 TB/s", 3.5e12, 3.5e12, "B/s", 0.01e12),
        ("3,35 TB/s", 3.35e12, 3.35e12, "B/s", 0.01e12),
        ("5,0 PFLOP/s", 5e15, 5e15, "FLOP/s", 0.1e15),
        ("1,2–2,4 kW", 1.2e3, 2.4e3, "W", 0.1e3),
        (".5 GB", 0.5e9, 0.5e9, "B", 0.1e9),
        ("1.5e3 GB", 1.5e12, 1.5e12, "B", 0.1e12),
        ("1e3 GB", 1e12, 1e12, "B", 1e12),
        ("1,000 GB", 1e12, 1e12, "B", 50e9),
        ("1_000 GB", 1e12, 1e12, "B", 50e9),
        ("80GB", 80e9, 80e9, "B", 4e9),
        ("80 GiB", 80 * 2**30, 80 * 2**30, "B", 4 * 2**30),
        ("200–400 Gb/s", 25e9, 50e9, "B/s", 1.25e9),
        ("200 to 400 Gb/s", 25e9, 50e9, "B/s", 1.25e9),
        ("200/400 Gb/s", 25e9, 50e9, "B/s", 1.25e9),
        ("10/40 Gb/s", 1.25e9, 5e9, "B/s", 1e9 / 8),
        ("200-400G", 25e9, 50e9, "B/s", 1.25e9),
        ("400G", 50e9, 50e9, "B/s", 2.5e9),
        ("1.6T", 200e9, 200e9, "B/s", 12.5e9),
        ("100 GbE", 12.5e9, 12.5e9, "B/s", 5e9 / 8),
        ("989 dense BF16 TFLOPS", 989e12, 989e12, "FLOP/s", 1e12),
        ("10 TF", 10e12, 10e12, "FLOP/s", 1e12),
        ("2 PFs", 2e15, 2e15, "FLOP/s", 1e15),
        ("3 EF/s", 3e18, 3e18, "FLOP/s", 1e18),
        ("32 GT/s", 32e9, 32e9, "T/s", 1e9),
        ("5 usec", 5e-6, 5e-6, "s", 1e-6),
        ("10.2 kW", 10.2e3, 10.2e3, "W", 0.1e3),
        ("2 hours", 7200.0, 7200.0, "s", 3600.0),
    ],
)
def test_a_figure_has_its_value_range_unit_and_last_digit(
    text: str, low: float, high: float, unit: str, step: float
) -> None:
    token = read(text)[0]
    assert token.kind is TokenKind.QUANTITY and token.unit == unit
    assert (token.low, token.value, token.step) == pytest.approx((low, high, step))
    assert token.ranged == (low != high)
    assert token.written == text and (token.line, token.column) == (7, 3)
    assert token.nominal == text.endswith(("G", "T"))
    assert token.bits == (unit == "B/s" and "B" not in text)


@each(
    ("text", "parts"),
    [
        ("8 x 400 Gb/s", ["8", "x", "400 Gb/s"]),
        ("8/16 GB", ["8", "/", "16 GB"]),  # no range of two figures below ten: `1/2 GB` may be a fraction
        ("9/16 GB", ["9", "/", "16 GB"]),
        ("400-200 Gb/s", ["400", "-", "200 Gb/s"]),
        ("200-200 Gb/s", ["200", "-", "200 Gb/s"]),
        ("200-401G", ["200", "-", "401", "G"]),
        ("200-400 times", ["200", "-", "400", "times"]),
        ("12T", ["12", "T"]),
        ("401G", ["401", "G"]),
        ("400Gx", ["400", "Gx"]),
        ("ConnectX-7s", ["ConnectX", "-", "7", "s"]),
        ("a-7s", ["a", "-", "7", "s"]),
        ("-7s", ["-", "7s"]),
        ("GPU's", ["GPU"]),
        ("989 dense BF16 TFLOPS", ["989", "dense", "BF16", "TFLOPS"]),
        ("8x", ["8", "x"]),
        ("a <= b -> c == d", ["a", "<=", "b", "->", "c", "==", "d"]),
    ],
)
def test_a_text_is_cut_at_words_figures_and_signs(text: str, parts: list[str]) -> None:
    assert [token.text for token in read(text)] == parts


def test_the_place_of_a_token_counts_from_one_and_a_gap_is_white_space() -> None:
    found = read("8 x (400 Gb/s)_n")
    assert [(token.text, token.column, token.gap) for token in found] == [
        ("8", 3, True),
        ("x", 5, True),
        ("(", 7, True),
        ("400 Gb/s", 8, False),
        (")", 16, False),
        ("n", 18, False),  # an underscore joins
    ]


def test_numbers_beyond_every_quantity_are_nothing() -> None:
    assert MAX_VALUE == 1e60
    assert [(token.value, token.step) for token in read("9e59 1e60 1e61")] == [(9e59, 1e59), (0.0, 0.0), (0.0, 0.0)]


def test_a_block_is_read_up_to_its_limit_of_tokens() -> None:
    lines = [ProseLine(number, "a " * 1000) for number in range(40)]
    assert MAX_TOKENS == 20_000 and len(tokens(lines)) == 21_000  # the line that passes the limit is read whole


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("Total GBps", "GB/s"),
        ("Total (GB/s)", "GB/s"),
        ("GB/s and GB/s", "GB/s"),
        ("Gb/s or GB/s", ""),
        ("400 Gb/s", ""),
        ("400Gb/s", ""),
        ("H100 Gb/s", "Gb/s"),
        ("at 1,000.5 Gb/s", ""),
        ("FLOPS", "FLOP/s"),
        ("Name", ""),
    ],
)
def test_a_heading_has_a_unit_where_it_names_one_without_a_number(heading: str, unit: str) -> None:
    assert unit_in_heading(heading) == unit


def test_a_number_takes_the_unit_of_its_heading_with_its_range_and_last_digit() -> None:
    (number,) = read("400")
    token = token_with_unit(number, "Gb/s")
    assert (token.kind, token.value, token.low, token.step) == (TokenKind.QUANTITY, 50e9, 50e9, 2.5e9)
    assert token.written == "400 Gb/s" and token.text == "400" and number.unit == ""


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        ((4, 9, "900 GB/s"), None, (4, 9, 4, 17)),
        ((4, 9, "a"), (4, 20, "bcd"), (4, 9, 4, 23)),
        ((4, 9, "ab"), (5, 2, "c"), (4, 9, 4, 11)),
    ],
)
def test_a_problem_reaches_to_the_end_of_its_last_token_on_the_line(
    start: tuple[int, int, str], end: tuple[int, int, str] | None, span: tuple[int, int, int, int]
) -> None:
    first, last = (at and Token(TokenKind.WORD, at[2], at[0], at[1]) for at in (start, end))
    assert first is not None
    found = TextProblem("ambiguous-unit", first, "m", "h", last).problem("notes.md").span
    assert found is not None and (found.start.line, found.start.column, found.end.line, found.end.column) == span


def test_points_separate_thousands_where_commas_stand_before_decimals() -> None:
    assert [token.value for token in read("1,4 kW und 2.516 TFLOP/s") if token.unit] == [1.4e3, 2516e12]
    assert [token.value for token in read("1.4 kW and 2,516 TFLOP/s") if token.unit] == [1.4e3, 2516e12]
    assert [token.value for token in read("tp 4,8 on 2.516 TFLOP/s") if token.unit] == [2.516e12]
