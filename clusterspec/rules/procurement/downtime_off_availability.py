"""A downtime in the text is not what the stated availability leaves.

## What it finds

An availability in percents and the time without service that it allows in a month, a year, a week or a quarter, in one sentence,
where the time is not the rest to 100 % of that period: `99.9 % a month, that is 8.8 hours of downtime a month`, where it is 43
minutes.

## Why it matters

Spare nodes, response times and service credits are planned for this time. 8.8 hours are what 99.9 % leaves in a year.

## What to do

Multiply the rest to 100 % by the hours of the period: 8,766 of a year, 730 of a month.

## When to ignore it

Ignore it where planned maintenance is part of the time.

## Fires

```yaml description
clusterspec: 1
description: The contract guarantees an availability of 99.9 %, at most 8.8 h of downtime a month.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: EUR, support: {response: 4 h}}
```

## Silent

```yaml
clusterspec: 1
description: The contract guarantees an availability of 99.9 %, at most 8.8 h of downtime a year or 44 minutes a month.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: EUR, support: {response: 4 h}}
```

## Sources

- Availability and allowed downtime: https://sre.google/sre-book/availability-table/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.rules.knowledge.written_numbers import number_in_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
NEAR = 0.1
"""Relative difference up to which a time is the rounded one of an availability."""
_AVAILABLE = pattern(
    r"\b(?:availab\w*|uptime|sla|service level|verfügbar\w*|disponib\w*|beschikbaar\w*|tillgänglig\w*)\b"
)
_SHARE = pattern(r"(?<![\w.,])(9\d(?:[.,]\d{1,3})?) ?(?:%|percent|per cent)")
_PERIOD = r"(year|month|week|quarter|annum|trimestre|quartal)"
_DOWN = pattern(
    rf"(?<![\w.,])(\d{{1,4}}(?:[.,]\d{{1,2}})?) ?(h|hours?|min(?:utes?|utos|uti)?|minuten)\b(?! ?%)"
    rf"(?: (?:of|without|d'|de|di|an|for) ?)?(?: ?(?:down(?:time)?|outages?|unavailability|interruption\w*|standstill|service|ausfall\w*|ausfallzeit|stillstand|indisponibilit\w*|d'indisponibilité|indisponibilidad|caída|fermo|per mese))?"
    rf" ?(?:(?:a|per|pro|par|por|each|every|im|al|in a|/) ?{_PERIOD}\b|\(?(monthly|yearly)\b)"
)
"""A time without service, and its period."""
_OF_OUTAGE = pattern(
    r"\b(?:down|downtime|outages?|unavailab\w*|interruption\w*|standstill|allow\w*|permit\w*|ausfall\w*|ausfallzeit\w*|stillstand\w*|indisponib\w*|caídas?|fermo|at most|that is|i\.e)\b|=|\("
)
_PLANNED = pattern(r"\b(?:maintenance|planned|scheduled|geplant\w*|wartung\w*|planifi\w*|programad\w*)\b")
_SECONDS = {
    "year": YEAR,
    "annum": YEAR,
    "month": YEAR / 12,
    "quarter": YEAR / 4,
    "trimestre": YEAR / 4,
    "quartal": YEAR / 4,
}
_SECONDS |= {"week": 7 * DAY, "monthly": YEAR / 12, "yearly": YEAR}


def check(texts: PurchaseTexts) -> Iterator[Problem]:
    if "%" not in texts.remarks or _AVAILABLE.search(texts.remarks.lower()) is None:
        return
    for sentence in texts.sentences:
        shares = {number_in_text(each) for each in _SHARE.findall(sentence)}
        about = _AVAILABLE.search(sentence) is not None and _OF_OUTAGE.search(sentence) is not None
        if len(shares) != 1 or not about or _PLANNED.search(sentence) is not None:
            continue
        (share,) = shares
        for number, unit, one, other in _DOWN.findall(sentence):
            seconds = number_in_text(number) * (HOUR if unit.startswith("h") else 60.0)
            period = _SECONDS[one or other]
            left = (1 - share / 100) * period
            if left and not abs(seconds / left - 1) <= NEAR + 0.5 / max(number_in_text(number), 0.5):
                message = f"{share:g} % leave {display(left, 's')} without service in a {one or other.removesuffix('ly')}, not {number} {unit}"
                yield RULE.problem("description", message, "correct the time or the availability")
                return
