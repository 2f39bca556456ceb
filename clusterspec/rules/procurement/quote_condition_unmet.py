"""The price of a quote rests on a quantity that the quote does not reach.

## What it finds

- A price, discount or rebate that begins at a number of nodes, accelerators or units (`8 % from 100 systems`), where the quote or
  the design has fewer;
- a line with a minimum order quantity (`MOQ 50`) above its own.

## Why it matters

The supplier sends the invoice without the discount, or refuses the order.

## What to do

Ask for the condition to be dropped, or order what it asks for.

## When to ignore it

Ignore it where other orders count toward the quantity.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 96}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 96, unit_price: 350000, price: 33600000}
    - {part: "Volume rebate, 3 % from 100 systems", quantity: 1, unit_price: -1008000, price: -1008000}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 350000, price: 1400000}
    - {part: "MFP7E10-N010 fiber cable, minimum order quantity 50", quantity: 32, unit_price: 180, price: 5760}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 100}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, MOQ 4", quantity: 100, unit_price: 350000, price: 35000000}
    - {part: "Volume rebate, 3 % from 100 systems", quantity: 1, unit_price: -1050000, price: -1050000}
```

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.rules.knowledge.written_numbers import number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NODES, _ACCELERATORS = (
    r"(?:systems?|nodes?|servers?|dgx|machines?|knoten|serveurs?|servidores)",
    r"(?:gpus?|accelerators?|cards?)",
)
_DISCOUNT = pattern(
    r"\b(?:prices?|tiers?|preise?|staffel\w*|prix|precios?|discounts?|rebates?|\w*rabatte?|remise|descuento|desconto|sconto|korting)\b"
)
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,6})"
_FROM = pattern(
    rf"\b(?:from|above|over|at least|minimum(?: of)?|min\.?|ab|mindestens|à partir de|dès|desde|a partir de|vanaf)\s{_COUNT}\s(?:x )?"
    rf"(?:(?P<node>{_NODES})|(?P<accelerator>{_ACCELERATORS}))\b|"
    rf"\b{_COUNT}\s(?:(?P<nodes>{_NODES})|(?P<accelerators>{_ACCELERATORS}))\s(?:and|or) (?:more|above|over)\b"
)
"""The quantity from which a discount holds."""
_LEAST = pattern(
    rf"\b(?:moq|minimum order(?: quantity)?|min(?:imum|\.)? (?:order|quantity|qty)|mindestabnahme|mindestmenge|cantidad mínima)\b[^\d,;]{{0,8}}{_COUNT}(?![\d.]* ?%)"
)
"""The least quantity of an order."""


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = list(offered_lines(procurement.quote, cluster))
    ordered = max(offered_quantity([line for line in lines if line.kind == "node"]), cluster.all_nodes)
    for line in lines:
        text = (line.line.part or "").lower()
        name = name_of_part(line.line.part)
        begins = _FROM.search(text) if _DISCOUNT.search(text) is not None else None
        if begins is not None:
            needed = number_in_text(begins[1] or begins[4])
            of_nodes = bool(begins["node"] or begins["nodes"])
            has = ordered if of_nodes else ordered * cluster.accelerators_per_node
            if has < needed:
                what = "nodes" if of_nodes else "accelerators"
                message = f"`{name}` begins at {needed:,.0f} {what}, and the quote has {has:,.0f}"
                at = ("procurement", "quote", line.index, "part")
                yield RULE.problem(at, message, "ask for the discount without this condition")
        least, quantity = _LEAST.search(text), line.line.quantity
        if least is not None and quantity is not None and quantity < number_in_text(least[1]):
            message = f"`{name}` is ordered {quantity:,.0f} times, and the least order is {least[1]}"
            at = ("procurement", "quote", line.index, "quantity")
            yield RULE.problem(at, message, f"order {least[1]}, or ask for fewer")
