"""Prices have no date or no currency.

## What it finds

`prices` or a `quote` without `as_of` or without `currency`.

## Why it matters

Prices of accelerators change within weeks, and a number without a currency cannot be compared.

## What to do

Add both.

## When to ignore it

Do not ignore it in a document to be signed.

## Fires

```yaml procurement
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Sources

- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "note")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    if not procurement.prices and not procurement.quote:
        return
    lacking = [key for key in ("as_of", "currency") if getattr(procurement, key) is None]
    if lacking:
        named = and_list(f"`{key}`" for key in lacking)
        yield RULE.problem(
            "procurement", f"the prices have no {named}: they cannot be compared with others", f"add {named}"
        )
