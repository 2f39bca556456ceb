"""Expressions in a text: their values with dimensions, where an equation begins and ends, and what is no equation."""

from __future__ import annotations

import pytest

from clusterspec.prose.blocks import ProseLine
from clusterspec.prose.expressions import Equation, equations, expression_value
from clusterspec.prose.factors import multiple_text, text_in_unit_of
from clusterspec.prose.tokenize import Token, tokens
from tests.effort import each

NONE, BYTES, RATE, TIME, POWER, FLOP_RATE = (
    (0, 0, 0, 0),
    (1, 0, 0, 0),
    (1, 0, -1, 0),
    (0, 0, 1, 0),
    (0, 0, 0, 1),
    (0, 1, -1, 0),
)


def words(text: str) -> list[Token]:
    return tokens([ProseLine(1, text)])


@each(
    ("text", "value", "dimensions"),
    [
        ("2 + 3 * 4", 14, NONE),
        ("2 * 3 + 4", 10, NONE),
        ("10 - 2 - 3", 5, NONE),
        ("10 − 2 + 3", 11, NONE),
        ("64 / 4 / 2", 8, NONE),
        ("64 ÷ 4 × 2", 32, NONE),
        ("(2 + 3) * 4", 20, NONE),
        ("((((2))))", 2, NONE),
        ("2^10", 1024, NONE),
        ("2**10", 1024, NONE),
        ("10^-3", 0.001, NONE),
        ("3 * 2^2", 12, NONE),
        ("50 %", 0.5, NONE),
        ("50 % * 400 Gb/s", 25e9, RATE),
        ("18 links × 25 GB/s", 450e9, RATE),
        ("18 new fast links × 25 GB/s", 450e9, RATE),
        ("~18 x about 25 GB/s", 450e9, RATE),
        ("25 GB/s * 4 s", 100e9, BYTES),
        ("100 GB / 25 GB/s", 4, TIME),
        ("2 kW + 500 W", 2500, POWER),
        ("989 TFLOPS * 2", 1978e12, FLOP_RATE),
        ("3 GB - 1 GB", 2e9, BYTES),
    ],
)
def test_an_expression_has_the_value_of_arithmetic(text: str, value: float, dimensions: tuple[int, ...]) -> None:
    found = expression_value(words(text))
    assert found is not None and found.number == pytest.approx(value) and found.dimensions == dimensions


def test_a_tight_fraction_divides_by_the_whole_product_after_it() -> None:
    loose, tight = (expression_value(words("64 / 4 * 2"), way) for way in (False, True))
    assert (loose and loose.number, tight and tight.number) == (32, 8)
    again = expression_value(words("64 / 4 * 2 / 2 * 2 + 1"), True)
    assert again and again.number == 3


@each(
    "text",
    [
        "",
        "2 +",
        "2 3",
        "* 3",
        "(2 + 3",
        "2 + 3)",
        "2 GB + 3 s",
        "2 GB + 3",
        "2 / 0",
        "2 GB ^ 2",
        "2 ^ 3 GB",
        "2 ^ 0.5",
        "0 ^ 2",
        "10 ^ 61",
        "10 ^ -61",
        "18 new fast red links × 25",
        "3 of 4",
        "3k * 2",
        "((((((2))))))",
        "32 GT/s",
    ],
)
def test_what_is_no_whole_expression_has_no_value(text: str) -> None:
    assert expression_value(words(text)) is None


def test_the_limits_of_powers_and_brackets_are_inclusive() -> None:
    big, small, deep = (expression_value(words(text)) for text in ("10 ^ 60", "10 ^ -60", "(((((2)))))"))
    assert big and small and deep
    assert (big.number, small.number, deep.number) == pytest.approx((1e60, 1e-60, 2))


def found(text: str, names: frozenset[int] = frozenset()) -> list[Equation]:
    return list(equations(words(text), names))


@each(
    ("text", "left", "right", "parts", "rough", "scale"),
    [
        ("64 * 7 = 448", (448,), 448, 2, False, 1),
        ("so 64 * 7 ≈ 448", (448,), 448, 2, True, 1),
        ("64 * 7 = ~448", (448,), 448, 2, True, 1),
        ("64 * 7 = about 448", (448,), 448, 2, True, 1),
        ("64 * 7 ~= 448", (448,), 448, 2, True, 1),
        ("~64 * 7 = 448", (448,), 448, 2, False, 1),
        ("64 * 7 equals 448", (448,), 448, 2, False, 1),
        ("64 / 4 * 2 = 8", (32, 8), 8, 3, False, 1),
        ("3 / 4 = 75 %", (0.75, 0.0075), 0.75, 2, False, 0.01),
        ("30 % + 40 % = 70 %", (0.7,), 0.7, 2, False, 0.01),
        ("30 + 40 = 70 %", (70, 0.7), 0.7, 2, False, 0.01),
        ("8 x 400 Gb/s = 3.2 Tb/s", (400e9,), 400e9, 2, False, 1),
        ("the sum: 2 + 3 = 5, 6", (5,), 5, 2, False, 1),
    ],
)
def test_an_equation_has_two_sides(
    text: str, left: tuple[float, ...], right: float, parts: int, rough: bool, scale: float
) -> None:
    (equation,) = found(text)
    assert [value.number for value in equation.left] == pytest.approx(list(left))
    assert equation.right.number == pytest.approx(right)
    assert (equation.parts, equation.rough, equation.scale) == (parts, rough, scale)
    row = words(text)
    assert len(equation.operands) == parts and row[equation.result].value * scale == pytest.approx(right)
    assert row[equation.start].value == equation.operands[0].value or row[equation.start].text == "~"


@each(
    "text",
    [
        "PP=24",  # an assignment
        "= 24",
        "64 * 7 = 440 + 8",  # a step of a derivation
        "12: 64 * 7 = a",
        "a:64 * 7 = 448",
        "f(2 + 3) = 5",
        "1 024 * 2 = 2048",
        "12,5 * 2 = 25",
        "× 3 * 2 = 6",
        "^ 2 * 3 = 6",
        "> 2 * 3 = 6",
        "2 * 3 = 6 × 7",
        "2 * 3 = 6 /n",
        "2 * 3 = 6k",
        "2 * 3 = 6^n",
        "2 * 3 = 6 years",
        "2 * 3 = 6,5",
        "2 * 3 = 6 000",
        "2 * 3 = 200-400 GB",
    ],
)
def test_what_continues_or_stands_in_another_formula_is_no_equation(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text", ["2 * 3 = 6, 7 follow", "2 * 3 = 6 (n)", "n : 2 * 3 = 6", "at (2 + 3) = 5", "2 * 3 = 6 + n"]
)
def test_text_next_to_an_equation_leaves_it_one(text: str) -> None:
    assert len(found(text)) == 1


def test_a_number_in_a_name_is_no_side_of_an_equation() -> None:
    assert found("2 * 3 = 6", frozenset({0})) == []
    assert found("2 * 3 = 6", frozenset({4})) == []


def test_a_side_is_read_up_to_its_limit_of_tokens() -> None:
    def sum_of(terms: int) -> str:
        return " + ".join(["1"] * terms)

    assert [len(found(f"{sum_of(terms)} = {terms}")) for terms in (20, 21)] == [1, 0]  # 39 and 41 tokens


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(8.0, "1/8 of"), (0.125, "8 times"), (1.0, "1 times"), (1.5, "1/1.5 of"), (0.0, "more than"), (-1.0, "more than")],
)
def test_the_inverse_of_a_ratio_precedes_the_figure_written(ratio: float, text: str) -> None:
    assert multiple_text(ratio) == text


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        ("12", 12.3456789, "12.3457"),  # six digits, without a sign
        ("12", -1234567.0, "1234570"),
        ("12 GB", 12.3456789e9, "12.35 GB"),  # four digits with a unit
        ("12 Gb/s", 1.5432e9, "12.3 Gb/s"),  # three for a rate in bits
    ],
)
def test_a_right_value_is_told_in_the_unit_and_digits_of_the_written_one(written: str, value: float, text: str) -> None:
    (token,) = tokens([ProseLine(1, written, 0)])
    assert text_in_unit_of(token, value) == text
