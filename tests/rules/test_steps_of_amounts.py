"""Results of calculations with money in several steps follow from the amounts, shares and counts before them.

A line of ``steps_of_amounts.txt`` has the right result of a text with a wrong one, or `right`, and the text. The right
results are worked out by hand: 7,200,000 x 0.92 x 1.2 = 7,948,800; the smaller of 0.6 x 5.2M and 2.8M is 2.8M;
900,000 x (1 - 0.5 - 0.3) = 180,000; 9 x 120,000 + 5 x 60,000 = 1,380,000; 88,800 x 12 = 1,065,600.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.readers.dimensions import figures_of
from clusterspec.rules.readers.results.step_amounts import period_of
from clusterspec.rules.readers.results.steps import is_capped, wrong_steps

LINES = Path(__file__).with_name("steps_of_amounts.txt").read_text("utf-8").splitlines()


def test_a_wrong_result_is_found_with_the_right_one_and_a_right_result_is_not() -> None:
    wrong = []
    for right, text in (line.split(" | ") for line in LINES):
        found = [each.right for each in wrong_steps(text)]
        if found[:1] != ([] if right == "right" else [right]):
            wrong.append((text, right, found))
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "At most 2.8M EUR are paid. If it were 60 % of 5.2M EUR, so 3.12M EUR, nobody would object.",
        "With 20 % VAT about 7,848,800 EUR are due on 6,624,000 EUR.",
        "A price of 6,624,000 EUR and 20 % VAT plus freight come to 7,960,000 EUR.",
        "Of the price of 6,624,000 EUR, 20 % VAT, 1,324,800 EUR, is refunded.",
        "A maintenance of 60,000 EUR a year is due, and 1,278,000 EUR for the machine.",
        "Two of the nine members pay 120,000 EUR, the machine costs 300,000 EUR.",
    ],
)
def test_amounts_that_no_step_gives_are_not_compared(text: str) -> None:
    assert list(wrong_steps(text)) == []


def test_a_cap_explains_an_amount_and_a_period_is_read_from_its_words() -> None:
    assert is_capped("2,8 millones de euros", "el 60 % de 5,2 millones de euros, como máximo 2,8 millones")
    assert not is_capped("3.12M EUR", "60 % of 5.2M EUR, at most 2.8M EUR")
    month, year = figures_of("88.800 USD al mes y 1.065.600 USD al año")
    assert period_of(year) == pytest.approx(12 * period_of(month))
