"""The load of the busiest time in texts about a service."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import islice, pairwise

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_eastern
from clusterspec.rules.readers.doubt import is_of_this_machine
from clusterspec.rules.readers.loads import (
    DIGITS,
    REQUESTS,
    LoadFigure,
    bare_rates_in,
    figures_in,
    is_load,
    number_of,
    unit_of_capacity,
)
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.standard import pattern

NEAR = 60
"""Largest distance, in characters, between a figure and the word that classifies it."""
_PEAK = (
    *("peak", "pay day", "payday", "busiest", "rush", "launch", "black friday", "at most", "maximum", "highest"),
    *(
        "spitze",
        "höchstlast",
        "stärkste",
        "pointe",
        "chargée",
        "pic ",
        "pico",
        "punta",
        "drukste",
        "cargada",
        "más llena",
        "più piena",
        "più intensa",
        "movimentada",
        "mais cheia",
        "carregada",
        "piek",
        "natężon",
        "ruchliw",
    ),
)
"""Lowercase words for the peak load."""
_PEAK_WORD = pattern(rf"(?i){'|'.join(re.escape(each) for each in _PEAK)}")
_HOURS = pattern(r"(?i)\b(?:hour|stunde|heure|hora|ora|uur|godzin\w*)\b")
_OF_ONE = pattern(
    r"(?i)\b(?:engines?|replicas?|instan\w+|each|every|gpus?|cards?|karten?|nodes?|servers?|users?|person\w*|capacity|capable|can|could|sustain\w*|headroom|limit\w*|test\w*|measured|night|nachts?|nuit|noche|at most|maximum)\b"
)
"""Words of a rate of one part, of a capacity, or of a quiet time."""


class Peak(NamedTuple):
    """The peak load that a text or the keys state."""

    value: float
    kind: str


class PeakRate(NamedTuple):
    """The requests a second of the busiest time, and the words that state them."""

    per_second: float
    words: str
    sentence: str = ""


def names_peak(sentence: str) -> bool:
    """Whether a sentence is about the busiest time."""
    folded = sentence.lower()
    return any(each in folded for each in _PEAK)


def peak_in(text: str, planned: float | None) -> Peak | None:
    """The peak load that a text states, or the planned request rate; None if the text states several different peaks.

    >>> peak_in("At the peak 70 requests/s arrive, at night 9 requests/s.", None)
    Peak(value=70.0, kind='requests')
    """
    named = set()
    for sentence in sentences_of(text):
        words = [each.span() for each in _PEAK_WORD.finditer(sentence)] if names_peak(sentence) else []
        figures = figures_in(sentence) if words else []
        loads = [each for each in figures if is_load(each) and not unit_of_capacity(sentence, each)]
        for start, end in words if loads else ():
            nearest = min(loads, key=lambda each: max(each.start - end, start - each.end))
            if max(nearest.start - end, start - nearest.end) <= NEAR:
                named.add(Peak(nearest.per_second, nearest.kind))
    if planned is not None and (not named or Peak(planned, REQUESTS) in named):
        return Peak(planned, REQUESTS)
    highest = max(named, default=None)
    return highest if highest is not None and len({each.kind for each in named}) == 1 == len(named) else None


def peak_rate_of(text: str, planned: Container[float] = ()) -> PeakRate | None:
    """The highest rate of requests that a text states for the busiest time; None if it states none.

    ``planned`` are rates of the plan, in requests a second; the result is None too where the text states one of them.

    >>> peak_rate_of("In the busiest hour each clerk asks nine requests, all together 60 a second.")[:2]
    (60.0, '60 a second')
    >>> peak_rate_of("In der stärksten Stunde kommen 216.000 Anfragen.").per_second
    60.0
    >>> peak_rate_of("At the peak an engine can take 9 requests a second."), peak_rate_of("9 requests a second")
    (None, None)
    >>> peak_rate_of("The peak is 60 requests a second, 6 requests a second at each site.", {6.0})
    """
    sentences = sentences_of(with_numerals(_plain_text(text)))
    rates = [
        (sentence, *each)
        for before, sentence in pairwise(["", *sentences])
        for each in _rates_in(sentence, is_counted=_counts_requests(before))
    ]
    if any(rate.per_second in planned for _, rate, _ in rates):
        return None
    peaks = [
        rate._replace(sentence=sentence) for sentence, rate, clause in rates if _is_of_busiest_time(sentence, clause)
    ]
    return max(peaks, key=lambda each: each.per_second, default=None)


def _is_of_busiest_time(sentence: str, clause: str) -> bool:
    """Whether a clause with a rate is about all requests of the busiest time."""
    if not names_peak(sentence) or not (_counts_requests(sentence) or any(_counts_of_them(sentence))):
        return False
    return _OF_ONE.search(clause) is None and is_of_this_machine(sentence, clause)


HIGHER, BOUND = 1.3, 1.05
"""Smallest ratios of a peak rate to the rate of the plan at which the two differ: of a promise, and of what a contract or a duty
demands.
"""


def is_above(peak: PeakRate, rate: float) -> bool:
    """Whether a peak rate is above the rate of the plan, in requests a second.

    >>> [is_above(PeakRate(12.0, "", each), 10.0) for each in ("12 a second arrive", "The contract demands 12 a second")]
    [False, True]
    """
    from clusterspec.rules.readers.demands.reading import lexicon  # few texts state the load of the busiest time

    is_bound = not lexicon().meanings(peak.sentence).isdisjoint({"must", "duty"})
    return peak.per_second > (BOUND if is_bound else HIGHER) * rate


def _counts_requests(sentence: str) -> bool:
    """Whether a sentence has a number of requests."""
    return any(each.kind == REQUESTS for each in figures_in(sentence))


def _rates_in(sentence: str, *, is_counted: bool = False) -> Iterator[tuple[PeakRate, str]]:
    """The rates of requests of a sentence over an hour or less, each with its clause. A sentence counts parts of the requests
    of the one before if that one ``is_counted``.
    """
    of_hour = HOUR if _HOURS.search(sentence) is not None else 0.0
    rates = [each for each in figures_in(sentence) if each.kind == REQUESTS]
    of_them = [*_counts_of_them(sentence)] if of_hour and (rates or is_counted) else []
    if of_them:  # what the parts are taken from is of a longer time
        rates = [each for each in rates if each.period]
    for each in (*rates, *bare_rates_in(sentence), *of_them):
        period = each.period or of_hour
        if 0 < period <= HOUR:
            words = sentence[each.start : each.end]
            yield PeakRate(each.value / period, words), clause_at(sentence, each.start, each.end)


_OF_THEM = pattern(
    rf"(?i)(?P<ahead>{DIGITS}) (?:of (?:them|these|those)|davon|d['’]entre (?:elles|eux)|del[ea]s|de ell[oa]s|di ess[ei]|ervan|z nich)\b|"
    rf"\b(?:davon|dont|of which|of these|de ell[oa]s|di cui|waarvan|d[oa]s quais|z czego) (?P<behind>{DIGITS})"
)
"""A part of the requests that a sentence counts."""


def _counts_of_them(sentence: str) -> Iterator[LoadFigure]:
    """The parts of the requests that a sentence counts, without a period of their own.

    >>> [each.value for each in _counts_of_them("1,080,000 requests arrive, 162,000 of them in the busiest hour")]
    [162000.0]
    """
    for match in islice(_OF_THEM.finditer(sentence), MOST_MATCHES):
        name = "ahead" if match["ahead"] else "behind"
        yield LoadFigure(number_of(match[name], whole=True), REQUESTS, 0.0, *match.span())


def _plain_text(text: str) -> str:
    """A text on one line, one of Japanese, Chinese or Korean with English words for those of demands."""
    if is_eastern(text):
        from clusterspec.rules.readers.glosses import glossed  # most texts have no character of the East

        text = glossed(text)
    return " ".join(text.split())
