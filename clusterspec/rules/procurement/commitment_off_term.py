"""The prices hold for a longer contract than the term.

## What it finds

A `commitment` that is longer than `term`: an error. One that is shorter by more than a tenth is a note.

## Why it matters

Providers sell reservations of one or three years at up to half of the price on demand. Who takes the price of three
years for a machine of one pays for three, or pays the price of one.

## What to do

Write the prices of the contract that fits the term, and its time as `commitment`.

## When to ignore it

Ignore it where another team takes over the rest of the contract.

## Fires

```yaml procurement.commitment
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 12 months, commitment: 3 years, prices: {node_hour: 42}}
```

```yaml procurement.commitment
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 3 years, commitment: 1 year, prices: {node_hour: 62.4}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 12 months, commitment: 1 year, prices: {node_hour: 62.4}}
```

## Sources

- Commitments and their terms: https://cloud.google.com/compute/docs/instances/committed-use-discounts-overview
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error")
SAME = 0.01
"""Relative difference of equal times: 12 months of 30.4 days and a year of 365."""
MUCH_SHORTER = 0.9


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    term, bound = procurement.term, procurement.commitment
    if term is None or bound is None:
        return
    if bound.value > term.value * (1 + SAME):
        message = f"the prices hold for a contract of {bound.written}, and the machine is kept for {term.written}"
        help_ = f"write the prices of a contract of {term.written}, or count {bound.written} of rent"
        yield RULE.problem("procurement.commitment", message, help_)
    elif bound.value < term.value * MUCH_SHORTER:
        message = f"the prices hold for {bound.written} of a term of {term.written}: those of the rest are open"
        yield RULE.problem("procurement.commitment", message, "ask for the prices of the rest", severity="note")
