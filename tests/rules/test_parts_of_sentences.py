"""Results of shares, differences, factors, intervals and days of a sentence are computed again.

In ``parts_of_sentences.txt`` `-` begins a sentence with a wrong result, and `+` one with a right result, a bound, a
plan, or figures that give nothing.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from clusterspec.rules.knowledge.text_days import wrong_times
from clusterspec.rules.knowledge.text_parts import WrongPart, wrong_parts

LINES = Path(__file__).with_name("parts_of_sentences.txt").read_text("utf-8").splitlines()


def test_a_wrong_result_is_found_and_no_right_one() -> None:
    wrong = [
        line
        for line in LINES
        if any(True for _ in chain(wrong_parts(line[2:]), wrong_times(line[2:]))) != (line[0] == "-")
    ]
    assert wrong == []


def test_the_right_result_is_named() -> None:
    # 5 MW x 1.4 = 7 MW; 24 of 96 = 25 %; 1 - 3,600 s / 2,629,800 s = 99.86 %
    (overhead,) = wrong_parts("The IT load of 5 MW and a PUE of 1.4 mean 6.2 MW at the meter.")
    assert overhead == WrongPart("6.2 MW", "7 MW", "5 MW at a PUE of 1.4")
    assert next(wrong_parts("24 of the 96 links failed the test (33 %).")).right == "25 %"
    assert next(wrong_parts("One hour of downtime a month is an availability of 99.5 %.")).right == "99.86 %"


def test_days_without_a_year_are_in_one_year_or_the_next() -> None:
    # 15 March to 31 August: 16 + 30 + 31 + 30 + 31 + 31 = 169 days; 1 November to 28 February: 119 days
    assert [each.days for each in wrong_times("From 15 March to 31 August are eight months.")] == [169]
    assert [each.days for each in wrong_times("From 1 November to 28 February are three weeks.")] == [119]
