"""A date in the text does not match the weekday, quarter or number of weeks that the text gives for it.

## What it finds

In the description, the comments and the milestones:

- a name of a weekday with a date of another weekday (`Monday, 2027-05-11`);
- a quarter with a date of another one (`Q2 2027 (2027-07-05)`);
- a date plus days, weeks or months that is said to be another date, by more than a week (`2026-11-16 + 25 weeks = 2027-06-10`,
  `25 weeks after 2026-11-16, on 2027-06-10`);
- a date that is said to follow from another one and a number of days, weeks or months, and is more than a week too early
  (`ordered on 2026-11-16, 25 weeks to the last crate, so all is there by 2027-03-29`).

Times that count working days are not judged.

## Why it matters

One of the two is wrong, and partners who read the other one come on another day.

## What to do

Look the date up, and write one of the two.

## When to ignore it

Ignore it where a fiscal year defines the quarters.

## Fires

```yaml description
clusterspec: 1
description: The order is placed on 2026-11-16, and 25 weeks after 2026-11-16 is 2027-06-10.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, needed_by: 2027-06-15}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, delivery: {milestones: ["acceptance on Monday, 2027-05-11"]}}
```

## Silent

```yaml
clusterspec: 1
description: The order is placed on 2026-11-16, and 25 weeks after 2026-11-16 is 2027-05-10.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, delivery: {milestones: ["acceptance on Monday, 2027-05-10, in Q2 2027"]}}
```

## Sources

- ISO 8601, weekdays and calendar weeks: https://www.iso.org/iso-8601-date-and-time-format.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice, pairwise

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import DATE, date_of_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NAMES = (
    ("monday", "montag", "lundi", "lunes", "lunedì", "maandag", "segunda-feira", "måndag", "mandag", "poniedziałek"),
    ("tuesday", "dienstag", "mardi", "martes", "martedì", "dinsdag", "terça-feira", "tisdag", "tirsdag", "wtorek"),
    ("wednesday", "mittwoch", "mercredi", "miércoles", "mercoledì", "woensdag", "quarta-feira", "onsdag", "środa"),
    ("thursday", "donnerstag", "jeudi", "jueves", "giovedì", "donderdag", "quinta-feira", "torsdag", "czwartek"),
    ("friday", "freitag", "vendredi", "viernes", "venerdì", "vrijdag", "sexta-feira", "fredag", "piątek"),
    ("saturday", "samstag", "samedi", "sábado", "sabato", "zaterdag", "lördag", "lørdag", "sobota"),
    ("sunday", "sonntag", "dimanche", "domingo", "domenica", "zondag", "söndag", "søndag", "niedziela"),
)
_WEEKDAYS = {name: day for day, names in enumerate(_NAMES) for name in names}
_WEEKDAY = pattern(
    rf"\b({'|'.join(_WEEKDAYS)})\b,? ?(?:the |den |le |el |dem |\()?{DATE}|{DATE},? ?\(?(?:a |ein )?({'|'.join(_WEEKDAYS)})\b"
)
_QUARTER = pattern(
    rf"\b(?:q|t)([1-4])[ /]?(20\d\d) ?(?:\(|: ?|, )?(?:on |by |i\.e\. )?{DATE}|{DATE} ?[(,] ?(?:in )?(?:q|t)([1-4])[ /]?(20\d\d)\b"
)
_N = rf"(\d{{1,3}}|{'|'.join(NUMBER_WORDS)})"
_UNIT = r"(days?|weeks?|months?)"
_IS = r"(?:=|,? ?is|are|,? ?i\.e\.|:|→|gives?|ends? on|falls? on|,? ?on|\()"
_ADDED = pattern(rf"{DATE} ?(?:\+|plus|and) ?{_N} {_UNIT} ?{_IS} ?(?:the )?{DATE}")
_AFTER = pattern(
    rf"(?<![\w.,-]){_N} {_UNIT} (?:after|from|later than|following|nach|après|después de|dopo) (?:the )?(?:order |award |signature )?(?:of |on )?{DATE} ?{_IS} ?(?:the )?{DATE}"
)
_DATED = pattern(DATE)
_YEAR = pattern(r"(?<![\d.,])20\d\d(?![\d,])")
_DURATION = pattern(rf"(?<![\w.,-]){_N} {_UNIT}\b")
_FOLLOWS = pattern(
    r"(?:\b(?:so|thus|hence|therefore|that is|i\.e\.|later|which means|also|damit|somit|später|d\.h\.|donc|soit|por lo tanto)\b)"
)
_OF_THE_TIME_BEFORE = pattern(r",? (?:\(|(?:is|are|ist|sind|est|sont) )")
"""Words that may come between the end of a time and its length: `from 2027-02-01 to 2028-01-31 is 365 days`."""
_OPEN = pattern(
    r"\b(?:not|no|never|at the latest|latest|deadline|before|only if|would|could|if|unless|instead|nicht|spätestens|vor|würde|wenn|pas|avant|au plus tard|working|business|arbeitstag\w*|werktag\w*|ouvr\w+|partial|first|erste\w*|half)\b"
)
"""Words between two dates if the second is a limit or another event."""
MOST_DATES = 20
LONGEST_GAP = 240
"""Largest number of characters between two dates, one of which follows from the other."""
_DAYS = {"d": 1.0, "w": 7.0, "m": 30.44}
SLACK = 7
"""Days by which a time may be moved to the next working day or to the end of a week."""


def check(texts: PurchaseTexts) -> Iterator[Problem]:
    if "20" not in texts.remarks and texts.procurement.delivery is None:
        return
    placed: list[tuple[Path, str]] = []
    if _YEAR.search(texts.remarks) is not None and _DATED.search(texts.description) is not None:
        placed.append((("description",), texts.description))
    delivery = texts.procurement.delivery
    if delivery is not None and delivery.milestones:
        placed += [(("procurement", "delivery", "milestones", at), each) for at, each in enumerate(texts.milestones)]
    for at, text in placed:
        for message in (*_wrong_weekdays(text), *_wrong_quarters(text), *_wrong_sums(text), *_early_dates(text)):
            yield RULE.problem(at, message, "look the date up, and correct one of the two")


def _wrong_weekdays(text: str) -> Iterator[str]:
    for before, first, second, behind in _WEEKDAY.findall(text):
        day, name = date_of_text(first or second), before or behind
        if day is not None and day.weekday() != _WEEKDAYS[name]:
            yield f"{day} is a {_NAMES[day.weekday()][0].capitalize()}, not a {_NAMES[_WEEKDAYS[name]][0].capitalize()}"


def _wrong_quarters(text: str) -> Iterator[str]:
    for quarter, year, first, second, other, other_year in _QUARTER.findall(text):
        day = date_of_text(first or second)
        number, named = int(quarter or other), int(year or other_year)
        if day is not None and (day.year, (day.month + 2) // 3) != (named, number):
            yield f"{day} is in Q{(day.month + 2) // 3} {day.year}, not in Q{number} {named}"


def _wrong_sums(text: str) -> Iterator[str]:
    found = [(start, count, unit, end) for start, count, unit, end in _ADDED.findall(text)]
    found += [(start, count, unit, end) for count, unit, start, end in _AFTER.findall(text)]
    for start, count, unit, end in found:
        first, last = date_of_text(start), date_of_text(end)
        if first is None or last is None:
            continue
        expected = _ordinal_after(first, count, unit)
        if abs(last.toordinal() - expected) > SLACK and expected < date.max.toordinal():
            yield f"{count} {unit} after {first} is {date.fromordinal(expected)}, not {last}"


def _ordinal_after(first: date, count: str, unit: str) -> int:
    """The number of the day that is some days, weeks or months after another one; it may be beyond the last date."""
    return first.toordinal() + round(count_in_text(count) * _DAYS[unit[0]])


def _early_dates(text: str) -> Iterator[str]:
    """The messages on dates that are earlier than the date and the duration from which they are said to follow.

    >>> list(_early_dates("ordered on 2026-12-07. 20 weeks to the last crate, so all is there by 2027-03-29"))
    ['20 weeks after 2026-12-07 is 2027-04-26, not 2027-03-29']
    >>> list(_early_dates("ordered on 2026-12-07, 20 weeks to the last crate, at the latest by 2027-03-29"))
    []
    >>> list(_early_dates("2027-02-01 to 2028-01-31 is 365 days, so the credit is good until 2028-03-31"))
    []
    """
    for start, end in pairwise(islice(_DATED.finditer(text), MOST_DATES)):
        between = text[start.end() : end.start()]
        durations = list(islice(_DURATION.finditer(between[:LONGEST_GAP]), 2))
        if len(between) > LONGEST_GAP or len(durations) != 1 or _OPEN.search(between) is not None:
            continue
        if _OF_THE_TIME_BEFORE.fullmatch(between, 0, durations[0].start()) is not None:
            continue
        (duration,), first, last = durations, date_of_text(start[0]), date_of_text(end[0])
        if first is None or last is None or _FOLLOWS.search(between, duration.end()) is None:
            continue
        expected = _ordinal_after(first, duration[1], duration[2])
        if first.toordinal() < last.toordinal() < expected - SLACK and expected < date.max.toordinal():
            yield f"{duration[0]} after {first} is {date.fromordinal(expected)}, not {last}"
