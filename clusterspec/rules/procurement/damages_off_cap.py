"""Damages for delay reach their cap earlier or later than the text says.

## What it finds

A rate of damages or penalties for each day, week or month of delay, a cap in percents of the same price, and a
statement about both that their ratio contradicts: the cap is said to be reached after another time (`0.5 % a day,
capped at 5 %: reached after ten weeks`, where it is ten days), or a time of delay is said to cost other percents (`six
weeks late cost 12 %` at 1 % a week). Weeks may be counted as seven days or as five working days. Texts with a grace
period are not judged.

## Why it matters

When the cap is reached, a further day of delay costs the supplier nothing. A buyer who counts on damages until a date needs a cap
that lasts until then, or a right to withdraw.

## What to do

Divide the cap by the rate, and agree on a lower rate, a higher cap, or a right to withdraw at the end of that time.

## When to ignore it

Ignore it where rate and cap apply to different prices.

## Fires

```yaml description
clusterspec: 1
description: >
  Delay damages are 0.5 % of the contract price for each calendar day, capped at 5 % in total. The cap is reached only after ten
  weeks, so that each week until the start of term costs the supplier more.
cluster: {platform: dgx-b300, nodes: 16}
procurement: {currency: GBP, needed_by: 2027-06-01}
```

## Silent

```yaml
clusterspec: 1
description: >
  Delay damages are 0.5 % of the contract price for each started week, capped at 5 % in total. The cap is reached after ten weeks.
cluster: {platform: dgx-b300, nodes: 16}
procurement: {currency: GBP, needed_by: 2027-06-01}
```

## Sources

- Liquidated damages in public supply contracts, half a percent a week with a cap: https://ppp.worldbank.org/public-private-partnership/library/liquidated-damages
- FIDIC contracts, delay damages and their maximum: https://fidic.org/node/769
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.units import NUMBER_WORDS, word_set
from clusterspec.rules.readers.written_numbers import count_in_text, has_word
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units.display import plain, plural

RULE = Rule.of(__name__, "warning", "likely")
_SHARE = r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?) ?(?:%|percent|per cent|prozent)"
_UNIT = r"((?:calendar |working |business |kalender|werk|arbeits)?(?:days?|tag(?:en?)?)|weeks?|months?|jours?(?: ouvrés?| calendaires?)?)"
_DAMAGES = word_set(
    "damages ld lds late lateness pönale konventionalstrafe retard retards demora retraso multa multas ritardo boete boetes "
    "vertraging vite dagmulkt kara kary pénalité pénalités"
)
_DAMAGE_STARTS = (
    *("penalt", "delay", "verzug", "verspätung", "vertragsstrafe", "retard", "penali", "atraso", "försening"),
    *("forsinkelse", "opóźnieni"),
)
"""Words for delay damages, and the beginnings of others."""
_RATE = pattern(
    rf"{_SHARE}[^.;%]{{0,60}}?\b(?:per|pro|je|par|por|al|for each|for every|for any|each|every|für jeden|für jede|pour chaque|por cada|cada|chaque|a)\b "
    rf"(?:(?:full|started|commenced|begun|completed|whole|angefangene[nr]?|vollendete[nr]?|entamée?|iniciad[ao]|or part of a) ){{0,2}}?{_UNIT}\b"
)
_CAP = pattern(
    r"\b(?:capped at|caps? (?:of|is|at)|cap:?|maximum(?: of| is)?|max\.?|up to|not (?:to )?exceed(?:ing)?|limited to|limit (?:of|is)|ceiling (?:of|is)|at most|"
    r"höchstens|maximal|begrenzt auf|höchstbetrag|gedeckelt (?:auf|bei)|plafonnée?s? à|plafond de|máximo(?: de| del)?|tope(?: de| del)?|límite(?: de| del)?|massimo(?: di| del)?|massimale)"
    rf" (?:a |the )?(?:total of |total |overall )?{_SHARE}|{_SHARE} (?:cap|ceiling|maximum|limit|in total|in all|höchstens|insgesamt)\b"
)
_N = rf"(\d{{1,3}}|{'|'.join(NUMBER_WORDS)})"
_OF_CAP = r"(?:cap|ceiling|maximum|limit|plafond|höchstbetrag|deckel|obergrenze|tope|límite|máximo|massimale|tetto)"
_REACHED = r"(?:reach\w*|hit|exhaust\w*|used up|erreicht\w*|ausgeschöpft|atteint|alcanz\w*|raggiun\w*|full|lasts?|covers?|holds?|reicht)"
_CLAIM = pattern(
    rf"\b{_OF_CAP}\b[^.;]{{0,50}}?\b{_REACHED}\b[^.;]{{0,30}}?(?<![\w.,]){_N} {_UNIT}\b"
    rf"|(?<![\w.,]){_N} {_UNIT}\b[^.;\d]{{0,50}}?\b{_OF_CAP}\b[^.;\d]{{0,20}}?\b{_REACHED}\b"
    rf"|\b{_OF_CAP}\b[^.;\d]{{0,30}}?(?<![\w.,]){_N} {_UNIT}\b[^.;\d]{{0,12}}?\b{_REACHED}\b"
    rf"|\b{_REACHED} (?:the |its |den |le |el )?{_OF_CAP}\b[^.;\d]{{0,30}}?(?<![\w.,]){_N} {_UNIT}\b"
)
_COST = pattern(
    rf"(?<![\w.,]){_N} {_UNIT} (?:of (?:delay|lateness)|late|delay|verzug|de retard|de retraso|di ritardo) (?:costs?|are|is|mean|give|make|=|kosten|ergeben|coûtent|cuestan) (?:the supplier )?{_SHARE}"
)
_GRACE = pattern(
    r"\b(?:grace|karenz\w*|nachfrist\w*|franchise|gracia|first (?:day|week|\w+ days|\w+ weeks)|after the \w+ (?:day|week))\b"
)
_DAYS = {"d": (1.0,), "t": (1.0,), "j": (1.0,), "w": (7.0, 5.0), "m": (30.4, 28.0, 22.0, 20.0)}
"""Days of each unit of time, calendar days or working days, by its first letter."""
NEAR = 0.12
"""Relative difference up to which two times are equal."""


class _Terms(NamedTuple):
    """Delay damages: the percentage per unit of time, the unit, and the cap in percent."""

    rate: float
    unit: str
    cap: float

    @property
    def periods_to_cap(self) -> float:
        return self.cap / self.rate


def check(texts: PurchaseTexts) -> Iterator[Problem]:
    if "%" not in texts.remarks and "percent" not in texts.remarks.lower():
        return
    if not has_word(texts.remarks, _DAMAGES, _DAMAGE_STARTS):
        return
    text = texts.description
    if _GRACE.search(text) is not None:
        return
    terms = _stated_terms(text)
    if terms is None:
        return
    for found in _CLAIM.findall(text):
        words = [each for each in found if each]
        count, unit = count_in_text(words[0]), words[1]
        if not _is_time_of(terms, count, unit):
            reached = plural(max(1, round(terms.periods_to_cap)), _name_of(terms.unit))
            message = f"{plain(terms.rate)} % a {_name_of(terms.unit)} reach the cap of {plain(terms.cap)} % after {reached}, not after {count} {unit}"
            help_ = "agree on a lower rate or a higher cap, or on what ends the contract after this time"
            yield RULE.problem("description", message, help_)
            return
    for count_words, unit, share in _COST.findall(text):
        written, count = _percentage(share), count_in_text(count_words)
        costs = [
            min(terms.rate * count * days / own, terms.cap) for days in _days_of(unit) for own in _days_of(terms.unit)
        ]
        if not any(abs(written / each - 1) <= NEAR for each in costs):
            message = f"{count} {unit} at {plain(terms.rate)} % a {_name_of(terms.unit)} are {plain(costs[0])} % with the cap of {plain(terms.cap)} %, not {plain(written)} %"
            yield RULE.problem("description", message, "correct the text, or the rate")
            return


def _stated_terms(text: str) -> _Terms | None:
    """The only rate and the only cap in a text; None unless it has exactly one of each."""
    rates = {(_percentage(share), unit) for share, unit in _RATE.findall(text)}
    caps = {_percentage(one or other) for one, other in _CAP.findall(text)}
    if len(rates) != 1 or len(caps) != 1:
        return None
    ((rate, unit),), (cap,) = rates, caps
    return _Terms(rate, unit, cap) if 0 < rate < cap else None


def _percentage(written: str) -> float:
    return float(written.replace(",", "."))


def _name_of(unit: str) -> str:
    """A unit of time as one word in the singular.

    >>> _name_of("calendar days"), _name_of("kalendertag"), _name_of("weeks")
    ('calendar day', 'day', 'week')
    """
    return {"w": "week", "m": "month"}.get(_letter_of(unit), "calendar day" if "calendar" in unit else "day")


def _letter_of(unit: str) -> str:
    """The letter of a unit in `_DAYS`."""
    for day in ("day", "tag", "jour"):
        if day in unit:
            return "d"
    return unit[0]


def _days_of(unit: str) -> tuple[float, ...]:
    return _DAYS[_letter_of(unit)]


def _is_time_of(terms: _Terms, count: int, unit: str) -> bool:
    """Whether the damages reach their cap in this time, to the next whole unit."""
    for days in _days_of(unit):
        for own in _days_of(terms.unit):
            expected = terms.periods_to_cap * own / days
            if abs(count / expected - 1) <= NEAR or abs(count - expected) < 1:
                return True
    return False
