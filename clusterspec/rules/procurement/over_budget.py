"""The machine costs more than the budget.

## What it finds

`quoted_total`, or the sum of the lines of the quote, or of all priced parts, or of the rent over the term, above `budget`. The sum is taken at the
low end of price ranges.

## Why it matters

The order cannot be placed. A sum that lacks prices of parts is too low, so the excess is at least what the message
says.

## What to do

Raise the budget, take fewer nodes, or negotiate.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.budget
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, budget: 20000000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, quoted_total: 21500000, budget: 21000000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, budget: 21500000}
```

## Sources

- The bill of materials: docs/commands.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.bill import bill
from clusterspec.rules.knowledge.purchases import (
    ROUNDED,
    amount_text,
    is_rented,
    least_rent,
    money_text,
    total_of_lines,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "error")
HELP = "raise the budget, or take fewer nodes: `clusterspec bom` lists the parts"


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster) -> Iterator[Problem]:
    budget, quoted = procurement.budget, procurement.quoted_total or total_of_lines(procurement)
    if not budget:
        return
    limit = money_text(f"{budget:,}", procurement.currency)
    if quoted is not None:
        if quoted > budget:
            message = f"the quoted total of {money_text(amount_text(quoted), procurement.currency)} is {money_text(amount_text(quoted - budget), procurement.currency)} above the budget of {limit}"
            key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
            yield RULE.problem(key, message, HELP)
        return
    what, least = (
        ("the rent over the term", least_rent(procurement, cluster))
        if is_rented(procurement)
        else ("the priced parts", _least_price(design))
    )
    if least is not None and least > (ROUNDED if is_rented(procurement) else 1.0) * budget:
        message = f"{what} {'costs' if is_rented(procurement) else 'cost'} {money_text(f'{least:,.0f}', procurement.currency)} or more, {percent(least / budget - 1, 2)} above the budget of {limit}"
        yield RULE.problem("procurement.budget", message, HELP)


def _least_price(design: Design) -> float | None:
    total = bill(design).total
    return None if total is None else total.low
