"""Times that follow from counts of a text: rounds of a test, and steps of a run."""

from __future__ import annotations

from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import large_number_in_text
from clusterspec.standard import pattern
from clusterspec.units import display

_ROUNDS = pattern(
    r"(?i)(?<![\w.,])(\d{1,4}) ?(?:rounds?\b|runden?\b|tours?\b|tournées?\b|rondas?\b|turni\b|giri\b|tornate\b|rondes?\b|rodadas?\b|rund\w*\b)"
)
_STEP, _OF_STEP = frozenset({("step", 1)}), frozenset({("s", 1), ("step", -1)})
MOST = 8
"""Counts of a text that are read."""


class Span(NamedTuple):
    """The seconds of a run, and how they follow."""

    seconds: float
    how: str


def rounds_in(text: str) -> float:
    """The rounds of a test that a text states; 1 unless it states one number of them.

    >>> rounds_in("All pairs are covered in 63 rounds."), rounds_in("3 rounds of talks, 5 rounds of tests")
    (63.0, 1.0)
    """
    found = {
        number
        for sentence in plain_sentences(text)
        for match in islice(_ROUNDS.finditer(sentence), MOST)
        if (number := large_number_in_text(match[1])) > 1
    }
    return found.pop() if len(found) == 1 else 1.0


def run_span(text: str) -> Span | None:
    """The time of a run of which a text states one number of steps and one time of a step; None without both.

    >>> run_span("We measured 5 minutes per step. 2,400 steps are planned.").seconds
    720000.0
    """
    steps, seconds = dict[float, str](), dict[float, str]()
    for sentence in plain_sentences(text):
        if words_of_another(sentence):
            continue
        for each in demand_figures(sentence):
            if each.powers == _STEP and each.value > 1:
                steps[each.value] = each.words
            elif each.powers == _OF_STEP:
                seconds[each.value] = each.words
    if len(steps) != 1 or len(seconds) != 1:
        return None
    (count, counted), (each_takes, _) = *steps.items(), *seconds.items()
    return Span(count * each_takes, f"{counted} of {display(each_takes, 's')} each")
