"""Totals of power, energy, failures and lost time are computed again from the parts that a passage states.

Each line of ``totals_of_sentences.txt`` has the right total of a passage that states another one, or the word `right`
before a passage with a right total, a bound, the total of something else, or more parts than can be told apart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.readers.results.totals import wrong_totals
from tests.effort import each

LINES = Path(__file__).with_name("totals_of_sentences.txt").read_text("utf-8").splitlines()


@each(("right", "text"), [tuple(line.split(" | ", 1)) for line in LINES])
def test_a_total_is_that_of_its_parts(right: str, text: str) -> None:
    assert [found.right for found in wrong_totals(text)] == [] if right == "right" else [right]


@pytest.mark.parametrize(
    ("text", "multiples", "explained"),
    [
        ("A node takes 10.5 kW; the 32 nodes together draw 672 kW.", (), False),
        ("A node takes 10.5 kW; the 32 nodes together draw 672 kW.", (2.0,), True),
        ("A node takes 10.5 kW; the 32 nodes together draw 672 kW.", (4.0,), False),
        ("Daily, 32 nodes of 10 kW take 15.36 MWh.", (), False),
        ("Daily, 32 nodes of 10 kW take 15.36 MWh.", (2.0,), True),
    ],
)
def test_a_count_of_the_plan_may_be_left_out(text: str, multiples: tuple[float, ...], explained: bool) -> None:
    """32 × 10.5 kW are 336 kW, half of 672; 32 × 10 kW × 24 h are 7.68 MWh, half of 15.36."""
    assert (next(wrong_totals(text, multiples), None) is None) is explained
