"""The pools of a fleet together cost more than the budget.

## What it finds

A fleet of several pools whose priced parts and rents over the term add up to more than `procurement.budget`, or a
quote above it: its `quoted_total`, else its lines less `discount` and with `tax`, if each has a price. Each pool has its own prices; of a price range the low end counts.

## Why it matters

Each pool alone is below the budget, and no single design shows the excess.

## What to do

Reduce the nodes of a pool, or raise the budget: `clusterspec bom` lists the parts of all pools.

## When to ignore it

Ignore it where a pool is owned already; leave its prices out.

## Fires

```yaml procurement.budget
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16, prices: {node: 400000}}
  serve: {platform: dgx-h200, nodes: 8, prices: {node: 280000}}
procurement: {currency: USD, as_of: 2026-11-01, budget: 8000000}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16, prices: {node: 400000}}
  serve: {platform: dgx-h200, nodes: 8, prices: {node: 280000}}
procurement: {currency: USD, as_of: 2026-11-01, budget: 9000000}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import amount_of_quote, amount_with_terms
from clusterspec.procurement.bill import bill
from clusterspec.rules.knowledge.purchases import ROUNDED, amount_text, lowest_rent, money_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of
from clusterspec.units import percent

RULE = Rule.of(__name__, "error")
HELP = "take fewer nodes in a pool, or raise the budget: `clusterspec bom` lists the parts of all pools"


def check(fleet: Fleet) -> Iterator[Problem]:
    procurement = fleet.spec.procurement
    if procurement is None or not procurement.budget or len(fleet.pools) < 2:
        return
    currency = procurement.currency
    budget, quoted = float(procurement.budget), amount_of_quote(procurement)
    if quoted is not None:
        if quoted > budget:
            message = f"the quoted total of {money_text(amount_text(quoted), currency)} is {money_text(f'{quoted - budget:,.0f}', currency)} above the budget of {money_text(f'{budget:,.0f}', currency)}"
            key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
            yield RULE.problem(key, message, HELP)
        return
    prices = {name: price for name, pool in fleet.pools.items() if (price := _lowest_price(pool))}
    least = sum_of(prices.values())
    if least > budget:
        parts = " + ".join(f"{price:,.0f} ({name})" for name, price in prices.items())
        message = f"parts and rents of all pools cost {parts} = {money_text(f'{least:,.0f}', currency)} or more, {percent(least / budget - 1, 2)} above the budget of {money_text(f'{budget:,.0f}', currency)}"
        yield RULE.problem("procurement.budget", message, HELP)


def _lowest_price(pool: Pool) -> float | None:
    """The least price of a pool: the rent over the term if the pool is rented, else its priced parts at the low ends of
    their prices.
    """
    own = pool.design.spec.procurement if pool.design else None
    if pool.design is None or pool.cluster is None:
        return None
    rent = lowest_rent(own, pool.cluster) if own is not None and own.is_rent else None
    if rent is not None:
        return rent / ROUNDED
    total = bill(pool.design).total
    return amount_with_terms(total, own or ProcurementSpec()).low if total else None
