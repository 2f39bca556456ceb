"""The prices are older than a year, or from the future.

## What it finds

`as_of` more than a year before today (`--today`), or after it: a note, and a warning from three months after it.

## Why it matters

Prices and rents of accelerators fell by more than half within two years, and rose by two fifths within half a year. A
total from an old price list no longer holds.

## What to do

Ask for a new quote.

## When to ignore it

Ignore it in the record of a past purchase.

## Fires

```yaml procurement.as_of
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2023-06-01, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Sources

- How prices moved: https://compux.net/docs/guides/gpu-pricing-trends-2026
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "note")
OLD, LATER = timedelta(days=366), timedelta(days=92)


def check(procurement: ProcurementSpec, today: date) -> Iterator[Problem]:
    if not procurement.prices and not procurement.quote:
        return
    as_of = date_of_text(procurement.as_of)
    if as_of is None:
        return
    if today - as_of > OLD:
        message = f"the prices are of {as_of}, {(today - as_of).days:,} days before {today}"
        yield RULE.problem("procurement.as_of", message, "ask for a new quote")
    elif as_of - today > timedelta(days=1):
        severity = "warning" if as_of - today > LATER else "note"  # a quote may be dated some weeks ahead
        yield RULE.problem(
            "procurement.as_of", f"the prices are of {as_of}, after {today}", "correct the date", severity=severity
        )
