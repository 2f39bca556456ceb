"""A date of the procurement does not exist, or is before the day of the prices.

## What it finds

An `as_of` or `needed_by` that has the form of a date but does not exist, such as September 31; and a `needed_by` before
`as_of`, the day of the prices.

## Why it matters

Without a valid date, the age of the prices, the time until delivery and the support cannot be checked, and each reader
guesses another day.

## What to do

Write the day that was meant.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.as_of
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement: {currency: USD, as_of: "2026-09-31", prices: {node: 310000}}
```

```yaml procurement.needed_by
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement: {currency: USD, as_of: "2026-11-01", needed_by: "2026-03-01", prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement: {currency: USD, as_of: "2026-09-30", prices: {node: 310000}}
```

## Sources

- Days of a calendar: ISO 8601, https://www.iso.org/iso-8601-date-and-time-format.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    for key in ("as_of", "needed_by"):
        written = getattr(procurement, key)
        if written is not None and date_of_text(written) is None:
            message = f"{written} is not a date"
            yield RULE.problem(f"procurement.{key}", message, "write the right day")
    if procurement.as_of is None or procurement.needed_by is None:
        return
    priced, needed = date_of_text(procurement.as_of), date_of_text(procurement.needed_by)
    if priced is not None and needed is not None and needed < priced:
        message = f"the machine is needed on {needed}, before the day of the prices, {priced}"
        yield RULE.problem("procurement.needed_by", message, "check the year of both dates")
