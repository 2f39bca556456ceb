"""Demands of texts that hold until a day: what binds a machine that starts later is what the text says of the time after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.days import COMMON_YEAR, months_in
from clusterspec.rules.readers.demands.dates import dated_places
from clusterspec.rules.readers.demands.demand import Demand
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.standard import pattern

_UNTIL = pattern(
    r"(?i)\b(?:until|till|up to|before|bis|bevor|solange|jusqu['’](?:à|au|en|[^\W\d]+)|avant|tant que|hasta|mientras|fino|finché|tot|totdat|zolang|até|enquanto|do czasu|dopóki|do)\b"
)
"""Words before an end of a time."""
_THEN = pattern(
    r"(?i)\b(?:then|thereafter|afterwards|after that|from then on|from that day|danach|dann|anschließend|später|ensuite|puis|après|par la suite|después|luego|entonces|más tarde|poi|dopo|successivamente|in seguito|daarna|vervolgens|nadien|depois|a seguir|potem|następnie|później)\b"
)
"""Words of the time after it."""
_LONG_WORD = pattern(r"[^\W\d_]{4,}|\b\d{1,2}\b")
SHARED = 2
"""Words that a sentence with the day of an event shares with the one that says that something holds until the event."""
MOST_WORDS = 24


class _Change(NamedTuple):
    """The clause that says until when a demand holds, and the figure of the time after it."""

    until: str
    later: DemandFigure


def demands_on(text: str, day: date | None) -> Iterator[Demand]:
    """The demands of a text on the day on which a machine starts; without a day, those that hold first.

    >>> text = "Until 1 May 2027 the hall gives at most 140 kW, then 250 kW."
    >>> [each.value for on in (date(2027, 4, 1), date(2027, 6, 1)) for each in demands_on(text, on)]
    [140000.0, 250000.0]
    """
    for each in demands_in(text):
        change = _change_of(each) if day is not None else None
        end = _end_of(change.until, text) if change is not None else None
        if change is not None and end is not None and day is not None and end <= day:
            yield each._replace(value=change.later.value, words=change.later.words)
        else:
            yield each


def _change_of(demand: Demand) -> _Change | None:
    """The change of a demand at the end of a time; None where its sentence states no figure for the time after it."""
    sentence, figures = demand.sentence, demand_figures(demand.sentence)
    own = next((each for each in figures if each.words == demand.words), None)
    if own is None:
        return None
    alike = [each for each in figures if each.powers == own.powers and each.start > own.end]
    if len(alike) != 1 or _THEN.search(sentence, own.end) is None:
        return None
    spans = ((0, own.start), (own.end, alike[0].start))
    found = [
        (each.end(), end) for start, end in spans for each in islice(_UNTIL.finditer(sentence, start, end), MOST_WORDS)
    ]
    return _Change(sentence[slice(*found[-1])], alike[0]) if found else None


def _end_of(until: str, text: str) -> date | None:
    """The only day of a clause, else of the sentences about the same event."""
    own = _days_in(until)
    if not own:
        words = _words_of(until)
        others = (each for each in plain_sentences(text) if until not in each)
        own = {day for each in others if len(_words_of(each) & words) >= SHARED for day in _days_in(each)}
    return own.pop() if len(own) == 1 else None


def _days_in(sentence: str) -> set[date]:
    """The days of a sentence with their years, and the first days of its months."""
    days = {day for day, _, _ in dated_places(sentence) if day.year != COMMON_YEAR}
    return days or {*months_in(sentence)}


def _words_of(sentence: str) -> set[str]:
    return {each[0].lower() for each in islice(_LONG_WORD.finditer(sentence), MOST_WORDS)}
