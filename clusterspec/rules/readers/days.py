"""Times between two days of a text that are not as long as the text says. The days may have no year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import islice

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.dimensions import TIME, figures_of
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES, MOST_DAYS, LONGEST_SENTENCE = 200, 4, 1500
SLACK, PART = 4, 0.06
"""The days, and the share of a time, by which rounded times may differ."""
_MONTHS = (
    "january januar janvier jan enero gennaio januari janeiro stycznia",
    "february februar février feb febrero febbraio februari fevereiro lutego",
    "march märz mars mar marzo maart março marca",
    "april avril apr abril aprile kwietnia",
    "may mai mayo maggio mei maio maja",
    "june juni juin jun junio giugno junho czerwca",
    "july juli juillet jul julio luglio julho lipca",
    "august août aug agosto augustus sierpnia",
    "september septembre sept sep septiembre settembre setembro września",
    "october oktober octobre oct okt octubre ottobre outubro października",
    "november novembre nov noviembre novembro listopada",
    "december dezember décembre dec dez diciembre dicembre dezembro grudnia",
)
_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_NAME = rf"(?:{'|'.join(_NUMBERS)})"
_DAY = pattern(
    rf"(?i)(?<![\w.,/-])(?:(?P<d>\d{{1,2}})(?:\.|st|nd|rd|th|er)? (?:of |de )?(?P<m>{_NAME})\b\.?|(?P<n>{_NAME})\.? (?P<e>\d{{1,2}})(?!\d|:))(?:,? (?:del? )?(?P<y>20\d\d)\b)?"
)
_ORDINAL = pattern(rf"(?i)(?<!\d)(\d{{1,2}})\. (?={_NAME}\b)")
"""A German ordinal, whose full stop ends no sentence."""
_CUES = tuple(name[:3] for names in _MONTHS for name in names.split())
_FROM = pattern(
    r"(?i)\b(?:from|between|vom|von|du|starts? (?:on|at)|begins? (?:on|at)|beginning|starting|beginnt am|startet am|ab|à partir du|placed on|ordered on|order of|order on|signed on)(?: the| dem)? $"
)
_TO = pattern(
    r"(?i)^[^.\d]{0,40}\b(?:to|until|till|through|and|bis(?: zum)?|au|jusqu['’]au|ends? on|expires? on|arrives? on|arrive on|are here on|is here on|on site on)(?: the)? $"
)
_IS = pattern(
    r"(?i)^(?: 20\d\d)?,? ?(?:\(|=|:|(?:that|which) (?:is |are |makes )|i\.e\. |are |is |makes? |sind |das sind |soit |, )*$"
)
_RUNS = pattern(
    r"(?i)\b(?:runs?|lasts?|takes?|for|läuft|dauert|belegt|lang|term of|laufzeit|dure|pendant|pour|with|delivery|lieferzeit|occup\w+)\b"
)
_END = pattern(
    r"(?i)\b(?:until|till|ends?|expires?|given? back|returned|then|afterwards|bis|endet|zurück\w*|danach|jusqu\w*|rend\w*|arrives?|here|on site)\b"
)
_OPEN = pattern(
    r"(?i)\b(?:not|never|at the latest|latest|deadline|before|at most|up to|at least|instead|extension|option to|verlänger\w*|spätestens|vor|höchstens|mindestens|avant|au plus|working days?|business days?|arbeitstage?n?|werktage?n?|installation|first|second|half)\b"
)


class DatedMention(NamedTuple):
    """A day, and its place in a sentence."""

    day: date
    start: int
    end: int


def day_in_words(text: str) -> date | None:
    """The first day of a text with the name of its month and with its year; None without one.

    >>> day_in_words("in service on 30 April 2027"), day_in_words("Abnahme am 3. März"), day_in_words("31 April 2027")
    (datetime.date(2027, 4, 30), None, None)
    """
    for match in islice(_DAY.finditer(text), MOST_DAYS):
        if match["y"]:
            try:
                return date(
                    int(match["y"]), _NUMBERS[(match["m"] or match["n"]).lower()], int(match["d"] or match["e"])
                )
            except ValueError:
                return None
    return None


_MONTH = pattern(rf"(?i)\b(?P<m>{_NAME})\b\.?(?: (?:del? )?)?(?P<y>20\d\d)\b")


def months_in(text: str) -> Iterator[date]:
    """The first days of the months that a text names with their years.

    >>> [*months_in("until May 2028, im März 2027")]
    [datetime.date(2028, 5, 1), datetime.date(2027, 3, 1)]
    """
    for match in islice(_MONTH.finditer(text), MOST_DAYS):
        yield date(int(match["y"]), _NUMBERS[match["m"].lower()], 1)


class WrongTime(NamedTuple):
    """A time as a text states it, with two days, and the days between these."""

    stated: str
    first: str
    last: str
    days: int


def wrong_times(text: str) -> Iterator[WrongTime]:
    """The times of a text that its days contradict.

    >>> [(each.stated, each.days) for each in wrong_times("From 1 March to 30 June are six months.")]
    [('6 months', 121)]
    >>> [(each.stated, each.days) for each in wrong_times("Training starts on 15 March and takes 190 days; the nodes go back on 31 August, then.")]
    [('190 days', 169)]
    >>> list(wrong_times("From 1 March to 31 August are six months."))
    []
    """
    folded = text.lower()
    if sum(each in folded for each in _CUES) == 0:
        return
    plain = _ORDINAL.sub(r"\1 ", with_numerals(" ".join(text.split()), apart=True))
    for sentence in islice(sentences_of(plain, ".#"), MOST_SENTENCES):
        if len(sentence) > LONGEST_SENTENCE:
            continue
        days = [*days_in(sentence)]
        if (
            len(days) == 2
            and not is_hypothetical(sentence)
            and not is_of_other_plan(sentence)
            and _OPEN.search(sentence) is None
        ):
            yield from _contradictions(sentence, *days)


def days_in(sentence: str) -> Iterator[DatedMention]:
    """The days of a sentence; one without a year is in the year of the other, or of this century's first common year."""
    found = [*islice(_DAY.finditer(sentence), MOST_DAYS)]
    years = [int(each["y"]) for each in found if each["y"]]
    last: date | None = None
    for match in found:
        year = int(match["y"]) if match["y"] else (years[0] if years else COMMON_YEAR)
        day = _date(year, match)
        if day is not None and last is not None and day < last and not match["y"]:
            day = _date(year + 1, match)
        if day is not None:
            yield DatedMention(day, match.start(), match.end())
            last = day


COMMON_YEAR = 2001


def _date(year: int, match: re.Match[str]) -> date | None:
    try:
        return date(year, _NUMBERS[(match["m"] or match["n"]).lower()], int(match["d"] or match["e"]))
    except ValueError:
        return None


def _contradictions(sentence: str, first: DatedMention, last: DatedMention) -> Iterator[WrongTime]:
    times = [each for each in figures_of(sentence) if {(TIME, 1)} in (each.powers, each.bare) and each.value >= 7 * DAY]
    if len(times) != 1 or _FROM.search(sentence[: first.start]) is None:
        return
    (time,), days = times, (last.day - first.day).days
    between = sentence[first.end : last.start]
    inside = first.end <= time.start < last.start
    stated = time.value / DAY
    words = (time.words, sentence[first.start : first.end], sentence[last.start : last.end], days)
    near = max(SLACK, PART * stated)
    is_term = not inside and _TO.match(between) is not None and _is_equal(sentence, time.start, time.end, first, last)
    if is_term and min(abs(days - stated), abs(days + 1 - stated)) > near:
        yield WrongTime(*words)
    if inside and _RUNS.search(sentence, first.end, time.end + 8) is not None:
        follows = _TO.match(sentence[time.end : last.start]) is not None
        ends = _END.search(sentence, time.end) is not None
        if (follows and abs(days - stated) > max(near, 8)) or (ends and 0 < days < stated - near):
            yield WrongTime(*words)


def _is_equal(sentence: str, start: int, end: int, first: DatedMention, last: DatedMention) -> bool:
    """Whether a sentence states a time as the span from a first to a last day, after the days or directly before them."""
    behind = start >= last.end and _IS.match(sentence[last.end : start]) is not None
    return behind or (end <= first.start and first.start - end <= len(", and that from "))
