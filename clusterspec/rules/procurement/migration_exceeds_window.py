"""The data cannot be copied over the stated link in the stated days.

## What it finds

A line of a quote, a milestone or a sentence of the description about a migration or copy that names a size of data, the
rate of a link and a number of days, where the link at its full rate needs more days. Where a line has no rate or no days,
those of the other texts about the migration count, if they agree.

## Why it matters

A link of 10 Gb/s carries 108 TB a day at best: petabytes take weeks. The old storage system is switched off, or its
contract extended, while data are on the way.

## What to do

Begin earlier, rent a faster link, or ship drives.

## When to ignore it

Ignore it where the data are compressed on the way, or only a part is copied.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: USD
  quote:
    - {part: "Migration of 3.2 PB over the link of 10 Gb/s, 15 days", quantity: 1, price: 390000}
```

```yaml procurement.quote[0].part
clusterspec: 1
description: The data, 800 TB, are copied from the old site over a link of 10 Gb/s.
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: USD
  quote:
    - {part: "Copy of 800 TB from the old site in 5 days", quantity: 1, price: 39000}
```

## Silent

```yaml
clusterspec: 1
description: The 400 TB of the old store are copied over a link of 10 Gb/s.
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: USD
  quote:
    - {part: "Migration of 400 TB, 14 days", quantity: 1, price: 39000}
```

## Sources

- Time of a transfer by size and rate, with a calculator: https://docs.cloud.google.com/architecture/migration-to-google-cloud-transferring-your-large-datasets
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.purchases import dates_in
from clusterspec.rules.knowledge.ranges import GIGABIT
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.quotes.parts import BYTES
from clusterspec.rules.readers.written_numbers import NUMBER, count_in_text, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import display, display_bits, plain
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_MOVED = pattern(
    r"\b(?:migrat\w*|migraç\w*|migrac\w*|migraz\w*|cop(?:y|ied|ies)|transfer\w*|transfert\w*|trasferi\w*|übertrag\w*|übertrug|overdrag\w*|"
    r"overføring\w*|överför\w*|flytt\w*|siirto\w*|kop[ií]\w*|brought|trazidos?|traslad\w*)\b|移行|迁移|遷移|옮긴|옮겨|이전|이관"
)
_SIZE = pattern(rf"{NUMBER} ?(tb|tib|pb|pib)(?![a-z0-9])(?!/s)")
_RATE = pattern(rf"{NUMBER} ?(g|m)(?:bit/s|b/s|bps|bits?/s|be?)(?![a-z0-9])")
_DAYS = pattern(
    r"(?<![\w.,])(\d{1,3}) ?(?:(?:calendar|working|consecutive) )?(?:days?|tagen?|tage|jours|días|dias|giorni|dagen|dagar|dager|päivää|dni)\b|(?<!\d)(\d{1,3}) ?(?:日間|일(?:간|이다|동안|입니다|이며)?(?![가-힣\d]))"
)
_HOURS = pattern(r"(?<![\w.,])(\d{1,3}) ?(?:h|hours?|stunden|heures|horas|ore|uur|timmar|timer|hodin|godzin\w*)(?!\w)")
_WEEKS = pattern(
    r"(?<![\w.,])(\d{1,2}|two|three|four|six|eight|zwei|drei|vier|sechs|deux|trois|quatre|dos|tres|cuatro|due|tre|twee|drie) "
    r"(?:weeks?|wochen|semaines|semanas|settimane|weken)\b"
)
_COUNTS = {
    **dict.fromkeys(("zwei", "deux", "dos", "due", "twee"), 2),
    **dict.fromkeys(("drei", "trois", "tres", "tre", "drie"), 3),
    **dict.fromkeys(("vier", "quatre", "cuatro"), 4),
    "sechs": 6,
}
"""Numbers of weeks as words in other languages than English."""
_UNITS = (" tb", "tib", " pb", "pib")
"""Units of data; a description of a migration has at least one of them."""
_LINKS = pattern(
    r"(?<![\w.,])([2-9]|two|three|four|dvě|dwa|dwie|deux|zwei|dos|due|duas|dois|två|twee) (?:[x×] ?|[\w.-]{3,12} (?:of |de |à |von |da |di |po )?)$"
)
"""Pattern of a number of links directly before the rate of one."""
_KEPT_APART = 1.02
"""Ratio up to which a time equals the stated days."""


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote and not any(unit in texts.remarks.lower() for unit in _UNITS):
        return
    placed = sorted(
        texts.placed, key=lambda each: each[0] == ("description",)
    )  # the line rather than what describes it
    ends = [day for _, text in placed if _TAKEN_AWAY.search(text) is not None for day in dates_in(text)]
    moved = [(path, text) for path, text in placed if _MOVED.search(text) is not None]
    rates, spans = ({value for _, text in moved for value in each(text)} for each in (_rates, _days))
    after = {text: following for (_, text), (_, following) in pairwise(texts.placed)}
    before = {following: text for text, following in after.items()}
    for path, text in moved:
        sizes = _sizes(text) or _sizes(before.get(text, ""))
        rate, days = _rates(text) or rates, _days(text) or _days_until(ends, text) or spans
        days = days or _days(after.get(text, ""))
        if len(sizes) != 1 or len(rate) != 1 or len(days) != 1:
            continue
        needed = max(sizes) / max(rate) / DAY
        if needed > max(days) * _KEPT_APART:
            what = f"`{name_of_part(text)}`" if path[0] == "procurement" else "the text"
            message = f"{what} has {plural(round(max(days)), 'day')}, but {display(max(sizes), 'B')} take {plain(needed, 2)} days at {display_bits(max(rate))}, the full rate of the link"
            yield RULE.problem(path, message, "begin earlier, rent a faster link, or ship drives")
            return


_TAKEN_AWAY = pattern(
    r"\b(?:delet\w*|eras\w*|wiped|terminat\w*|returned|removed|decommissioned|switched off|shut down|closed|ends?|expires?|gelöscht|supprim\w*|borrad\w*|apagad\w*|cancellat\w*|verwijderd)\b|삭제|削除|删除"
)
"""Pattern of words for data that are no longer available after a date."""


def _days_until(ends: Sequence[date], text: str) -> set[float]:
    """The number of days from the start of a copy to the first removal of its source; both days count."""
    starts = dates_in(text)
    spans = [(end - starts[0]).days + 1.0 for end in ends if len(starts) == 1 and end >= starts[0]]
    return {min(spans)} if spans and _TAKEN_AWAY.search(text) is None else set()


def _sizes(text: str) -> set[float]:
    """The sizes in bytes in a lowercase text."""
    return {number_in_text(number) * BYTES[unit] for number, unit in _SIZE.findall(text)}


def _rates(text: str) -> set[float]:
    """The rates in B/s of the links in a lowercase text.

    >>> _rates("over two sites at 10 gb/s"), _rates("over two links of 10 gb/s"), _rates("1.2 pb")
    ({1250000000.0}, {2500000000.0}, set())
    """
    return {
        _link_count(text[max(0, match.start() - 40) : match.start()])
        * number_in_text(match[1])
        * GIGABIT
        * (1.0 if match[2] == "g" else 1e-3)
        for match in _RATE.finditer(text)
    }


def _link_count(text: str) -> int:
    """The number of links that the end of a text states; 1 if it states none."""
    found = _LINKS.search(text)
    if found is None:
        return 1
    return int(found[1]) if found[1].isdigit() else {"three": 3, "four": 4}.get(found[1], 2)


def _days(text: str) -> set[float]:
    """The numbers of days in a lowercase text; without any, those of its weeks, else those of its hours.

    >>> _days("in 12 days"), _days("in den zwei wochen vor dem start"), _days("over 36 hours")
    ({12.0}, {14.0}, {1.5})
    """
    days = {float(one or other) for one, other in _DAYS.findall(text)}
    days = days or {7.0 * (_COUNTS.get(each) or count_in_text(each)) for each in _WEEKS.findall(text)}
    return days or {float(each) / 24 for each in _HOURS.findall(text)}
