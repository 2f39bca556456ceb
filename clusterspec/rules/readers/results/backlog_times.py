"""Times in texts that a number of things takes at a rate: `9 million reports at 2 reports a second are done in 52 days`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import HOUR
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.doubt import is_of_this_machine
from clusterspec.rules.readers.figures import (
    RATE,
    TIME,
    RelatedFigure,
    related_figures,
    with_digits,
)
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display

MOST_SENTENCES = 200
NEAR = 2
"""Largest number of sentences between an amount and the rate at which it is worked off."""
LEAST_THINGS = 1000.0
OTHERS = frozenset(("", "token", "jeton", "step", "sequence", "sample"))
"""Nouns of the figures of a training run, whose rate may be that of one accelerator: `duration-off-rate` reads them."""
SAME = 0.15
"""Relative difference up to which a time is that of the amount at the rate."""
_DONE = pattern(
    r"(?i)\b(?:done|finished|finishe?s?|complete[ds]?|through|coded|processed|read|worked off|cleared|takes?|takes us|lasts?|needs?|dauert|braucht|fertig|durch|abgearbeitet|"
    r"dure|prend|terminée?s?|traitée?s?|finie?s?|tarda|dura|terminad[oa]s?|procesad[oa]s?|richiede|finit[oaie]|lavorat[oaie]|duurt|klaar)\b"
)
_NOT_ALL_DAY = pattern(
    r"(?i)\b(?:nights?|nightly|weekends?|working days?|workdays?|business|hours a day|busy|shift\w*|half|only|except|nachts?|werktag\w*|arbeitstag\w*|stunden am tag|"
    r"nuits?|jours ouvrés|heures par jour|noches?|días hábiles|horas al día|notte|ore al giorno|uur per dag|each|per engine|per node|per card|je|pro|par|cada)\b"
)
"""Words of work during a part of the day, or of a rate of one part."""
_ALL_DAY = pattern(
    r"(?i)\bday and night\b|\btag und nacht\b|\bjour et nuit\b|\bdía y noche\b|\bgiorno e notte\b|\bdag en nacht\b"
)


def wrong_backlog_times(text: str) -> Iterator[Claim]:
    """The times in which, by a text, a number of things is worked off, if they are not that number over the only rate of these
    things in the sentence.

    >>> text = "9 million old reports must be coded. At 2 reports a second, day and night, the archive is done in 21 days."
    >>> list(wrong_backlog_times(text))
    [Claim(stated='21 days', right='52.1 days', figures='9 million old reports at 2 reports a second')]
    >>> list(wrong_backlog_times(text.replace("21", "52"))), list(wrong_backlog_times(text.replace("day and", "every")))
    ([], [])
    """
    sentences = [with_digits(each) for each in islice(sentences_of(" ".join(text.split())), MOST_SENTENCES)]
    figures = [related_figures(each) if any(map(str.isdigit, each)) else [] for each in sentences]
    for number, sentence in enumerate(sentences):
        rates = [
            each for each in figures[number] if each.dimensions == RATE and each.noun not in OTHERS and not each.per
        ]
        if len(rates) != 1 or _DONE.search(sentence) is None or _is_part_of_day(sentence):
            continue
        amounts = [
            each for of in figures[max(0, number - NEAR) : number + 1] for each in of if _is_amount(each, rates[0])
        ]
        times = [each for each in figures[number] if _is_time_of_all(sentence, each, rates[0])]
        if len({each.value for each in amounts}) != 1 or len(times) != 1:
            continue
        right, time = amounts[0].value / rates[0].value, times[0]
        clause = clause_at(sentence, time.start, time.end)
        if abs(time.value / right - 1) > SAME + time.rounding and is_of_this_machine(sentence, clause):
            yield Claim(time.words, display(right, "s"), f"{amounts[0].words} at {rates[0].words}")
            return


def _is_part_of_day(sentence: str) -> bool:
    """Whether a sentence may mean work during a part of each day."""
    return _NOT_ALL_DAY.search(_ALL_DAY.sub(" ", sentence)) is not None


def _is_amount(figure: RelatedFigure, rate: RelatedFigure) -> bool:
    return figure.is_count and figure.noun == rate.noun and figure.value >= LEAST_THINGS


def _is_time_of_all(sentence: str, figure: RelatedFigure, rate: RelatedFigure) -> bool:
    """Whether a figure is a time of at least an hour behind the rate, in a clause that says that the work ends."""
    if figure.dimensions != TIME or figure.per or figure.value < HOUR or figure.start < rate.end:
        return False
    return _DONE.search(clause_at(sentence, figure.start, figure.end)) is not None
