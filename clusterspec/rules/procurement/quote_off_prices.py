"""The quote and the prices of the spec differ.

## What it finds

A unit price of the quote that differs by more than 1 % from the price of the same part in `prices`: a warning; a
`support_per_year` that is the price of a line for several years of support: an error; and a `quoted_total` without lines
that is more than 2 % below the sum of the priced parts.

## Why it matters

Cost and report use `prices`, the order uses the quote: one of the two is out of date. The price of all years, taken for
that of one, counts as often as the term has years.

## What to do

Correct the older figure. Divide the price of support by its years.

## When to ignore it

Ignore it where `prices` come from another supplier, for comparison.

## Fires

```yaml procurement.quote[0].unit_price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000}
  quote:
    - {part: node, quantity: 68, unit_price: 290000, price: 19720000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, quoted_total: 19840000}
```

```yaml procurement.prices.support_per_year
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000, support_per_year: 5400000}
  quote:
    - {part: node, quantity: 68, unit_price: 310000, price: 21080000}
    - {part: "support of all systems, 60 months prepaid", quantity: 1, unit_price: 5400000, price: 5400000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: [280000, 320000]}
  quote:
    - {part: node, quantity: 68, unit_price: 310000, price: 21080000}
```

## Sources

- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price
from clusterspec.procurement.bill import bill
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.knowledge.purchases import amount_text, is_bought, money_text, price_ends
from clusterspec.rules.knowledge.quoted_readings import counts_in_text
from clusterspec.rules.knowledge.quoted_support import support_lines, years_of_support
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", yields_to=("price-outside-market",))
SAME, NEAR = 0.01, 0.02


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster) -> Iterator[Problem]:
    prices = procurement.prices
    if not prices:
        return
    for offered in offered_lines(procurement.quote or (), cluster):
        stated, each = prices.get(offered.kind), offered.unit_price
        if stated is None or each is None or not any(price_ends(stated)):
            continue
        low, high = price_ends(stated)
        may_be = (each, *(each / pieces for pieces in counts_in_text(offered)))
        if not any(low * (1 - SAME) <= price <= high * (1 + SAME) for price in may_be) and not offered.is_lot:
            message = f"the quote has {money_text(amount_text(each), procurement.currency)} for a {offered.kind.replace('_', ' ')}, and `prices.{offered.kind}` is {money_text(amount_text(low if each < low else high), procurement.currency)}"
            yield RULE.problem(
                ("procurement", "quote", offered.index, "unit_price"), message, "correct the older of the two"
            )
    yield from _support_problem(procurement, cluster)
    total, counted = procurement.quoted_total, bill(design).total
    if procurement.quote or not total or counted is None or not is_bought(procurement, cluster):
        return
    if procurement.discount is None and total < counted.low * (1 - NEAR):
        message = f"the quoted total of {money_text(f'{total:,}', procurement.currency)} is {percent(1 - total / counted.low, 2)} below the {money_text(f'{counted.low:,.0f}', procurement.currency)} of the priced parts"
        yield RULE.problem(
            "procurement.quoted_total",
            message,
            "ask which parts the quote leaves out; state `discount` where it has one",
        )


def _support_problem(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """The price of several years of support where the price of one is asked for."""
    stated = (procurement.prices or {}).get("support_per_year")
    if stated is None or not any(price_ends(stated)):
        return
    low, high = price_ends(stated)
    lines = [(line, plain_part(line.line)) for line in offered_lines(procurement.quote or (), cluster)]
    for line, text in support_lines(lines):
        whole, years = line_price(line.line), years_of_support(line, text)
        if whole is None or years is None or years <= 1:
            continue
        if low * (1 - SAME) <= float(whole) <= high * (1 + SAME):
            each = money_text(f"{float(whole) / years:,.0f}", procurement.currency)
            message = (
                f"`prices.support_per_year` is the price of the {years:g} years of `{name_of_part(line.line.part)}`"
            )
            yield RULE.problem("procurement.prices.support_per_year", message, f"write {each}", severity="error")
