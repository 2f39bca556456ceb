"""The highest rate of requests that a text promises to serve."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import islice

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_clauses import clause_at, is_former, is_hypothetical
from clusterspec.rules.knowledge.text_doubt import words_of_another
from clusterspec.rules.knowledge.text_loads import DIGITS, number_of
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.rules.knowledge.text_units import MINUTE
from clusterspec.rules.knowledge.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.standard import pattern

_REQUESTS = r"(?:requests?|queries|calls|questions|anfragen?|aufrufe|requêtes?|demandes|peticiones|solicitudes|consultas|richieste|verzoeken)"
_PEAK = pattern(r"(?i)\b(?:busiest|peaks?|stärkste[nr]?|spitzen?\w*|pointe|chargée|punta|pico|drukste|di punta|rush)\b")
_NAMES_REQUESTS = pattern(rf"(?i)\b{_REQUESTS}\b")
_PERIODS = {
    **dict.fromkeys(("second", "sekunde", "seconde", "segundo", "secondo"), 1.0),
    **dict.fromkeys(("minute", "minuto", "minuut"), MINUTE),
}
_RATE = pattern(
    rf"(?i)(?P<number>{DIGITS})(?: {_REQUESTS})? ?(?:/|an?|per|each|every|je|pro|par|por|al|in der|in einer|in a) ?(?P<period>{'|'.join(_PERIODS)})\b"
)
_OF_HOUR = pattern(rf"(?i)(?P<number>{DIGITS}) {_REQUESTS}\b")
_HOURS = pattern(r"(?i)\b(?:hour|stunde|heure|hora|ora|uur)\b")
_OF_ONE = pattern(
    r"(?i)\b(?:engines?|replicas?|instan\w+|each|every|gpus?|cards?|karten?|nodes?|servers?|users?|person\w*|capacity|capable|can|could|sustain\w*|headroom|limit\w*|test\w*|measured|night|nachts?|nuit|noche)\b"
)
"""Words of a rate of one part, of a capacity, or of a quiet time."""


class PeakRate(NamedTuple):
    """The requests a second of the busiest time, and the words that state them."""

    per_second: float
    words: str


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
    peaks = [
        rate
        for sentence in sentences
        if _is_of_busiest_time(sentence)
        for rate, clause in _rates_of(sentence)
        if _OF_ONE.search(clause) is None and not is_former(clause)
    ]
    if not peaks or any(rate.per_second in planned for sentence in sentences for rate, _ in _rates_of(sentence)):
        return None
    return max(peaks, key=lambda each: each.per_second)


def _is_of_busiest_time(sentence: str) -> bool:
    """Whether a sentence is about the requests of the busiest time of this service."""
    if _PEAK.search(sentence) is None or _NAMES_REQUESTS.search(sentence) is None:
        return False
    return not is_hypothetical(sentence) and not words_of_another(sentence)


def _rates_of(sentence: str) -> Iterator[tuple[PeakRate, str]]:
    """The rates of requests of a sentence, each with its clause."""
    found = [(each, _PERIODS[each["period"].lower()]) for each in islice(_RATE.finditer(sentence), MOST_MATCHES)]
    if _HOURS.search(sentence) is not None:
        found += [(each, HOUR) for each in islice(_OF_HOUR.finditer(sentence), MOST_MATCHES)]
    for match, period in found:
        rate = number_of(match["number"], whole=period == HOUR) / period
        yield PeakRate(rate, match[0]), clause_at(sentence, *match.span())
