"""Results of shares, differences, factors, intervals and days of a sentence are computed again.

In ``parts_of_sentences.txt`` `-` begins a sentence with a wrong result, and, after a bar, what is wrong, the right
result and what it follows from, worked out by hand; `+` begins one with a right result, a bound, a plan, or figures
that give nothing.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec.rules.readers.days import wrong_times
from clusterspec.rules.readers.results.parts import wrong_parts
from tests.effort import each

LINES = Path(__file__).with_name("parts_of_sentences.txt").read_text("utf-8").splitlines()


def contradictions(text: str) -> list[str]:
    """What a sentence states, and what it should be by its other figures."""
    parts = [f"{each.stated} is {each.right}: {each.figures}" for each in wrong_parts(text)]
    times = [f"{each.stated} is {each.days} days: {each.first} to {each.last}" for each in wrong_times(text)]
    return parts + times


@each("line", LINES)
def test_a_wrong_result_is_found_with_the_right_one(line: str) -> None:
    """5 MW x 1.4 = 7 MW; 24 of 96 = 25 %; 1 - 3,600 s / 2,629,800 s = 99.86 %; 2 March to 22 June are 29 + 30 + 31 + 22
    days.
    """
    text, _, wanted = line[2:].partition(" | ")
    assert contradictions(text) == ([wanted] if line[0] == "-" else [])


def test_days_without_a_year_are_in_one_year_or_the_next() -> None:
    # 15 March to 31 August: 16 + 30 + 31 + 30 + 31 + 31 = 169 days; 1 November to 28 February: 119 days
    assert [each.days for each in wrong_times("From 15 March to 31 August are eight months.")] == [169]
    assert [each.days for each in wrong_times("From 1 November to 28 February are three weeks.")] == [119]
