"""The load of the busiest time in texts about a service."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_clauses import clause_at
from clusterspec.rules.knowledge.text_doubt import is_of_this_machine
from clusterspec.rules.knowledge.text_loads import REQUESTS, bare_rates_in, figures_in, is_load, unit_of_capacity
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.rules.knowledge.written_numbers import sentences_of
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
        "piek",
    ),
)
"""Lowercase words for the peak load."""
_PEAK_WORD = pattern(rf"(?i){'|'.join(re.escape(each) for each in _PEAK)}")
_HOURS = pattern(r"(?i)\b(?:hour|stunde|heure|hora|ora|uur)\b")
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

    >>> peak_rate_of("In the busiest hour each clerk asks nine requests, all together 60 a second.")
    PeakRate(per_second=60.0, words='60 a second')
    >>> peak_rate_of("In der stärksten Stunde kommen 216.000 Anfragen.").per_second
    60.0
    >>> peak_rate_of("At the peak an engine can take 9 requests a second."), peak_rate_of("9 requests a second")
    (None, None)
    >>> peak_rate_of("The peak is 60 requests a second, 6 requests a second at each site.", {6.0})
    """
    sentences = sentences_of(with_numerals(" ".join(text.split())))
    rates = [(sentence, *each) for sentence in sentences for each in _rates_in(sentence)]
    if any(rate.per_second in planned for _, rate, _ in rates):
        return None
    peaks = [rate for sentence, rate, clause in rates if _is_of_busiest_time(sentence, clause)]
    return max(peaks, key=lambda each: each.per_second, default=None)


def _is_of_busiest_time(sentence: str, clause: str) -> bool:
    """Whether a clause with a rate is about all requests of the busiest time."""
    if not names_peak(sentence) or not any(each.kind == REQUESTS for each in figures_in(sentence)):
        return False
    return _OF_ONE.search(clause) is None and is_of_this_machine(sentence, clause)


def _rates_in(sentence: str) -> Iterator[tuple[PeakRate, str]]:
    """The rates of requests of a sentence over an hour or less, each with its clause."""
    of_hour = HOUR if _HOURS.search(sentence) is not None else 0.0
    rates = [each for each in figures_in(sentence) if each.kind == REQUESTS]
    for each in (*rates, *bare_rates_in(sentence)):
        period = each.period or of_hour
        if 0 < period <= HOUR:
            words = sentence[each.start : each.end]
            yield PeakRate(each.value / period, words), clause_at(sentence, each.start, each.end)
