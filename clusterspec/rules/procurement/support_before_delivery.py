"""Support is paid for before the machines arrive.

## What it finds

A line of support whose text has the two dates of its period, the first of them more than 31 days before the last delivery
of the servers, by the milestones or by `delivery.weeks` after the order.

## Why it matters

Months before the delivery are paid for machines that are not there, and the same months are missing at the end.

## What to do

Let the period begin with the acceptance.

## When to ignore it

Ignore it where the support is for machines that are in place.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: CAD
  as_of: 2026-12-01
  delivery: {weeks: 17}
  quote:
    - {part: "DGX H200", quantity: 8, unit_price: 310000}
    - {part: "support 24x7 of the DGX H200, from 2026-12-01 to 2030-11-30", quantity: 1, unit_price: 777600}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: CAD
  as_of: 2026-12-01
  delivery: {weeks: 17}
  quote:
    - {part: "DGX H200", quantity: 8, unit_price: 310000}
    - {part: "support 24x7 of the DGX H200, from 2027-04-01 to 2031-03-31", quantity: 1, unit_price: 777600}
```

## Sources

- The keys and texts: the format of this program (docs/spec.md)
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.orders import are_elsewhere
from clusterspec.rules.readers.purchases.timeline import Timeline
from clusterspec.rules.readers.quotes.support import sells_support
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning", "likely")
LATE = 31
"""Number of days before the delivery up to which a support period may begin, since it may start with the month of the
order.
"""
_PRESENT = pattern(r"\b(?:renewal|extension|present|current|existing|storage|software|license|switch\w*)\b")


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote or procurement.delivery is None:
        return
    spans = [(index, text, dates_in(text)) for index, text in enumerate(texts.lines) if sells_support(text)]
    spans = [span for span in spans if len(span[2]) == 2 and _PRESENT.search(span[1]) is None]
    delivery = Timeline.of(texts).delivery if spans else None
    if delivery is None or are_elsewhere({"node": 1}, texts.remarks):
        return
    for index, _, days in spans:
        early = (delivery - min(days)).days
        if early > LATE:
            part = name_of_part((procurement.quote or ())[index].part)
            message = f"`{part}` begins on {min(days)}, {plural(early, 'day')} before the last delivery on {delivery}"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "let the period begin with the acceptance")
            return
