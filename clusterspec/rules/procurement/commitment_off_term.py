"""The prices hold for a longer contract than the term, or than the provider sells.

## What it finds

A `commitment` that is longer than `term`: an error. One that is shorter by more than a tenth is a note. A line of the
quote for an EC2 Capacity Block of more than 182 days, by its own text, the commitment or the term, is an error.

## Why it matters

Providers sell reservations of one or three years at up to half of the price on demand. Who takes the price of three
years for a machine of one pays for three, or pays the price of one. A Capacity Block, with all its extensions, ends after 182 days,
and its instances are terminated.

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

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 9 months
  quote:
    - {part: "EC2 Capacity Block for ML, 16x p5.48xlarge, instance-hours", quantity: 105120, unit_price: 31.464}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 12 months, commitment: 1 year, prices: {node_hour: 62.4}}
```

## Sources

- Commitments and their terms: https://cloud.google.com/compute/docs/instances/committed-use-discounts-overview
- The longest Capacity Block: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.written_numbers import time_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error")
SAME = 0.01
"""Relative difference of equal times: 12 months of 30.4 days and a year of 365."""
MUCH_SHORTER = 0.9
LONGEST_BLOCK = 182
"""Days of the longest EC2 Capacity Block with all extensions."""
_BLOCK = pattern(r"(?i)\bcapacity blocks?\b")
_DAYS = pattern(r"(?i)(?<![\w.,-])(\d{1,4})[ -](days?|weeks?|months?)\b")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    yield from _block_problems(procurement)
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


def _block_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """Lines for capacity blocks of more days than are sold, by their own text, else by the commitment or the term."""
    held = procurement.commitment or procurement.term
    for number, line in enumerate(procurement.quote or ()):
        text = line.part or ""
        if _BLOCK.search(text) is None:
            continue
        named = [time_in_text(count, unit) / DAY for count, unit in _DAYS.findall(text)]
        days = max(named, default=held.value / DAY if held is not None else 0.0)
        if days > LONGEST_BLOCK * (1 + SAME):
            message = f"a Capacity Block lasts {LONGEST_BLOCK} days at most, extended or not, and this one {days:,.0f}"
            help_ = "buy several blocks, or another contract for the whole time"
            yield RULE.problem(("procurement", "quote", number, "part"), message, help_)
