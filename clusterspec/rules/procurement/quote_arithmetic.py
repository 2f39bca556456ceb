"""The arithmetic of a quote is wrong.

## What it finds

A line whose quantity × unit price is not its price, or lines whose sum, less `discount` and with `tax`, is not
`quoted_total` (a cent, or one part in a million); or a line that repeats the part, quantity and unit price of an
earlier line.

## Why it matters

Such errors are the most common defect of quotes, and are often found only after the order.

## What to do

Ask the supplier which of the figures is right.

## When to ignore it

Do not ignore it. State a discount on the total as `discount`, and a tax in it as `tax`.

## Fires

```yaml procurement.quote[0].price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19480000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19840000}
    - {part: leaf switch, quantity: 16, unit_price: 36000, price: 576000}
  quoted_total: 20461000
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19840000}
    - {part: leaf switch, quantity: 16, unit_price: 36000, price: 576000}
  quoted_total: 20416000
```

## Sources

- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price, total_of_lines
from clusterspec.rules.knowledge.purchases import amount_text, money_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines, currency = procurement.quote, procurement.currency
    for number, line in enumerate(lines):
        if line.quantity is None or line.unit_price is None or line.price is None:
            continue
        product = line.quantity * line.unit_price
        if not _is_same_sum(product, line.price):
            message = f"{line.quantity:,} × {line.unit_price:,} is {money_text(amount_text(product), currency)}, not {money_text(f'{line.price:,}', currency)}"
            yield RULE.problem(
                ("procurement", "quote", number, "price"), message, "ask the supplier which of the three is right"
            )
    yield from _repeated_line_problems(procurement)
    expected, total = total_of_lines(procurement), procurement.quoted_total
    if expected is None or total is None or any(line_price(line) is None for line in lines):
        return
    if not _is_same_sum(expected, total):
        off = total - expected
        terms = ", with discount and tax" if procurement.discount or procurement.tax else ""
        message = f"the lines sum to {money_text(amount_text(expected), currency)}{terms}, not {money_text(f'{total:,}', currency)}: {money_text(amount_text(abs(off)), currency)} {'too much' if off > 0 else 'too little'}"
        yield RULE.problem("procurement.quoted_total", message, "ask the supplier which line is missing or wrong")


def _repeated_line_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problems with lines with the part, the quantity and the price of an earlier line."""
    seen: dict[tuple[str, float, float], int] = {}
    for number, line in enumerate(procurement.quote or ()):
        if not line.part or line.quantity is None or line.unit_price is None:
            continue
        first = seen.setdefault((line.part.strip().lower(), line.quantity, line.unit_price), number)
        if first != number:
            message = f"`{line.part[:60]}` is quoted twice: lines {first + 1} and {number + 1} have the same part, count and price"
            yield RULE.problem(("procurement", "quote", number), message, "ask the supplier which of the two is right")


def _is_same_sum(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6, abs_tol=0.01)
