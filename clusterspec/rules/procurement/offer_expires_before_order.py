"""The offer expires before the order is placed.

## What it finds

A date until which a line of `procurement.quote`, a milestone of the delivery, the description or a comment says that the
offer or its prices are valid, and a later date on which the text says that the order is placed, signed, awarded or decided.

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

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import DATE, date_of_text
from clusterspec.rules.knowledge.timeline import ORDER, clauses_of
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_DATE = pattern(DATE)
_VALID = pattern(
    r"(?i)\b(?:valid\w*|firm|binds?|binding|held|open (?:to|until|till)|expir\w*|gültig\w*|valables?|váli[dt]\w*|geldig\w*|ważn\w*|giltig\w*|związan\w*|bindefrist|zuschlagsfrist|bindend\w*|platn\w*|gyldig\w*|voimassa|vigen\w*)\b|"
    r"有効期限|有效期|유효"
)


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    placed: list[tuple[Path, str]] = [*texts.stated, (("procurement",), texts.description)]
    clauses = [(at, clause) for at, text in placed for clause in clauses_of(text) if _DATE.search(clause)]
    ends = [(day, at) for at, clause in clauses if _VALID.search(clause) and (day := _last_day(clause)) is not None]
    orders = [
        day
        for _, clause in clauses
        if _VALID.search(clause) is None and ORDER.search(clause) and (day := _last_day(clause)) is not None
    ]
    if ends and orders and min(ends)[0] < min(orders):
        end, at = min(ends)
        message = f"according to the text, the offer is valid until {end}, and the order follows on {min(orders)}"
        yield RULE.problem(at, message, "ask for a longer validity, or order earlier")


def _last_day(clause: str) -> date | None:
    """The last date in a clause; None without a valid one."""
    return max((day for each in _DATE.findall(clause) if (day := date_of_text(each)) is not None), default=None)
