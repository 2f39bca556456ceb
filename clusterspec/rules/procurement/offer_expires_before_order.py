"""The offer expires before the order is placed.

## What it finds

A date until which a line of `procurement.quote`, a milestone of the delivery, the description or a comment says that
the offer or its prices are valid, and a later date on which the text says that the order is placed, signed, awarded or
decided. If prices hold for a period from a date, or from the date of the offer, the rule uses the end of that period.

## Why it matters

After that day the supplier is free to ask another price: prices of accelerators and memory have moved by tens of percent
within a quarter.

## What to do

Ask for a longer validity in writing, or order earlier.

## When to ignore it

Ignore it where the supplier has extended the offer.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
description: The board decides on 2027-01-21.
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-20
  quote:
    - {part: "DGX H200, firm for orders received by 2026-12-18", quantity: 4, unit_price: 309000}
```

## Silent

```yaml
clusterspec: 1
description: The board decides on 2026-12-10.
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-20
  quote:
    - {part: "DGX H200, firm for orders received by 2026-12-18", quantity: 4, unit_price: 309000}
```

```yaml
clusterspec: 1
description: Prices are valid for 30 days from 2026-11-20. The board decides on 2026-12-10.
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-20
  quote:
    - {part: DGX H200, quantity: 4, unit_price: 309000}
```

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from clusterspec.finding import Problem
from clusterspec.quantity import DAY, YEAR
from clusterspec.rules.knowledge.purchases import DATE, date_of_text, dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.timeline import ORDER, UNTIL, clauses_of
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.rules.readers.written_numbers import time_in_text
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_DATE = pattern(DATE)
_VALID = pattern(
    r"(?i)\b(?:valid\w*|firm|binds?|binding|held|holds?|open (?:to|until|till)|expir\w*|gültig\w*|valables?|váli[dt]\w*|geldig\w*|ważn\w*|giltig\w*|związan\w*|bindefrist|zuschlagsfrist|bindend\w*|platn\w*|gyldig\w*|voimassa|vigen\w*)\b|"
    r"有効期限|有效期|유효"
)
_TIME = pattern(
    rf"(?i)(?<![\w.,-])(\d{{1,3}})[ -](?:calendar )?({'|'.join(word for word, each in TIME_WORDS.items() if DAY <= each < YEAR)})\b"
)
"""Pattern of a number of days, weeks or months."""
_OFFER = pattern(
    r"(?i)\b(?:offers?|quot\w+|bid|prices?|angebot\w*|preise?|offre|devis|prix|oferta|precios?|offerta|prezz\w|offerte)\b"
)
_FROM = pattern(r"(?i)\b(?:from|since|as of|ab|vom|seit|du|partir du|desde(?: el)?|del?|dal|vanaf|od|fra|från) $")
"""Pattern of words right before the date on which something begins."""


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    placed: list[tuple[Path, str]] = [*texts.stated, (("procurement",), texts.description)]
    clauses = [(at, before, clause) for at, text in placed for before, clause in _clauses_with_dates(text)]
    ends = [
        (day, at)
        for at, before, clause in clauses
        if _VALID.search(clause) is not None and (day := _end_of_validity(before, clause)) is not None
    ]
    orders = [
        day
        for _, _, clause in clauses
        if _VALID.search(clause) is None and ORDER.search(clause) and (day := max(dates_in(clause), default=None))
    ]
    if ends and orders and min(ends)[0] < min(orders):
        end, at = min(ends)
        message = f"according to the text, the offer is valid until {end}, but the order follows on {min(orders)}"
        yield RULE.problem(at, message, "ask for a longer validity, or order earlier")


def _clauses_with_dates(text: str) -> Iterator[tuple[str, str]]:
    """The clauses of a text that have a date or follow a clause with one, each with the previous clause."""
    clauses = clauses_of(text) if _DATE.search(text) is not None else []
    for before, clause in pairwise(("", *clauses)):
        if _DATE.search(clause) is not None or _DATE.search(before) is not None:
            yield before, clause


def _end_of_validity(before: str, clause: str) -> date | None:
    """The last day on which an offer is valid, by a clause about it; None if the clause states none.

    >>> str(_end_of_validity("", "prices are valid for 30 days from 2026-11-15"))
    '2026-12-15'
    >>> str(_end_of_validity("The offer is of 2026-11-15", " valid for 2 weeks"))
    '2026-11-29'
    >>> str(_end_of_validity("", "it binds for 21 days until 2026-12-03"))
    '2026-12-03'
    >>> _end_of_validity("", "valid from 2026-11-15"), _end_of_validity("Order of 2026-11-15", " valid for 2 weeks")
    (None, None)
    """
    time, stated = _TIME.search(clause), list(_DATE.finditer(clause))
    ended = [day for each in stated if UNTIL.search(clause[: each.start()]) and (day := date_of_text(each[0]))]
    begun = any(_FROM.search(clause[: each.start()]) is not None for each in stated)
    if ended or (stated and time is None and not begun):
        return max(ended or dates_in(clause), default=None)
    if not stated and (_OFFER.search(before) is None or ORDER.search(before) is not None):
        return None
    start = min(dates_in(clause if stated else before), default=None)
    if start is None or time is None:
        return None
    return start + timedelta(days=round(time_in_text(time[1], time[2]) / DAY))
