"""Calculations with amounts of money in several steps of a text whose results are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

from clusterspec.rules.readers.clauses import is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.dimensions import figures_of
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.results.step_amounts import is_equal, is_money
from clusterspec.rules.readers.results.step_shares import CAP, wrong_bases, wrong_caps, wrong_rests, wrong_shares
from clusterspec.rules.readers.results.step_totals import (
    wrong_groups,
    wrong_periods,
    wrong_products_of_each,
    wrong_sums,
    wrong_totals_of_each,
    wrong_years,
)
from clusterspec.rules.readers.units import with_percent_signs
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES, LONGEST_SENTENCE, MOST_FIGURES = 200, 600, 14
_NO_STEP = pattern(
    r"(?i)\b(?:about|roughly|around|some|nearly|almost|approx\w*|ca|circa|etwa|rund|gut|knapp|environ|près|quelque|unos|casi|ongeveer|ungefär|około)\b(?=[^\d.;,]{0,12}\d)|\b(?:plus|except|without|excluding|further|more|less|another|than|zuzüglich|ohne|weitere\w*|mehr|weniger|sans|autres?|más|menos|sin|otr\w+|più|meno|senza|altr\w+)\b|[~≈+−×*/]|\bx\b"
)
"""Words and signs of sentences that round, or that have operands which no figure states."""


def wrong_steps(text: str) -> Iterator[Claim]:
    """The results of a text that do not follow from the amounts, shares and counts before them.

    >>> text = "The grant covers 60 % of 5.2M EUR, at most 2.8M EUR. It therefore amounts to 3.12M EUR."
    >>> list(wrong_steps(text))
    [Claim(stated='3.12M EUR', right='2.8M EUR', figures='60 % of 5.2M EUR, at most 2.8M EUR')]
    """
    sentences = sentences_of(with_digits(with_percent_signs(" ".join(text.split()))))
    before = ""
    for sentence in islice(sentences, MOST_SENTENCES):
        if len(sentence) <= LONGEST_SENTENCE and not is_hypothetical(sentence) and not is_of_other_plan(sentence):
            passage = f"{before}. {sentence}"
            yield from wrong_caps(passage)
            yield from (each for each in _wrong_steps_of(sentence, before) if not _is_sum_of_two(each.stated, passage))
        before = sentence[-LONGEST_SENTENCE:]


def _wrong_steps_of(sentence: str, before: str) -> Iterator[Claim]:
    figures = figures_of(sentence, bare=True)
    if not 1 <= len(figures) <= MOST_FIGURES:
        return
    passage = f"{before}. {sentence}" if before else sentence
    both = figures_of(passage, bare=True) if before else figures
    if _NO_STEP.search(sentence) is not None:
        return
    yield from wrong_shares(sentence, figures, [each for each in both if each.start < len(before)])
    yield from wrong_bases(sentence, figures)
    yield from wrong_rests(sentence, figures)
    yield from wrong_groups(sentence, figures)
    yield from wrong_products_of_each(sentence, figures)
    yield from wrong_periods(sentence, figures)
    yield from wrong_years(sentence, figures)
    yield from wrong_totals_of_each(passage, both, len(before))
    yield from wrong_sums(sentence, figures)


def _is_sum_of_two(stated: str, passage: str) -> bool:
    """Whether an amount is the sum or the difference of two others of its passage."""
    results = [each for each in figures_of(stated, bare=True) if is_money(each)]
    others = [each.value for each in figures_of(passage, bare=True) if is_money(each) and each.words != stated]
    sums = [value for one, other in combinations(others, 2) for value in (one + other, abs(one - other)) if value]
    return any(is_equal(result, each) for result in results for each in sums)


def is_capped(stated: str, text: str) -> bool:
    """Whether a text states the value of a figure as a cap.

    >>> is_capped("2.8M EUR", "60 % of 5.2M EUR, at most 2.8M EUR"), is_capped("2.8M EUR", "60 % of 5.2M EUR, so 2.8M EUR")
    (True, False)
    """
    text = with_digits(with_percent_signs(" ".join(text.split())))
    values = [each.value for each in figures_of(stated, bare=True)]
    caps = [each for each in figures_of(text, bare=True) if CAP.search(text[: each.start][-40:]) is not None]
    return any(is_equal(each, value) for each in caps for value in values)
