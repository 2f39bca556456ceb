"""Parts of the bill of materials have no price.

## What it finds

`prices` without a price for a kind of part that the fabric needs: leaf, spine or core switch, cable, transceiver, node,
and NIC unless the price of a node includes it. The finding is a warning. It is a note where no part of the fabric has a
price, since the fabric is then bought separately or does not exist; where only cables and transceivers lack a price and
there are at most three of them per node, or where neither has a price and both together add less than 8 % to what has
one, at usual prices; where two nodes may be joined by a direct cable; and where only transceivers lack a price and ports
have at most 200 Gb/s, at which cables with fixed ends are usual. With a quote, `quote-off-bill` reports missing parts
and this rule is silent.

## Why it matters

Optics are the most common omission, at 10 to 15 % of the price of a network. The total is too low by that amount.
They are a few percent of a machine with accelerators of the newest generations.

## What to do

Ask the supplier for the line.

## When to ignore it

Do not ignore it. If the part is included in another price, state 0 and add a comment.

## Fires

```yaml procurement.prices
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000, leaf_switch: 36000, spine_switch: 36000, cable: 900}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000, leaf_switch: 36000, spine_switch: 36000, cable: 900, transceiver: 1200}
```

## Sources

- A bill without optics: https://docs.google.com/spreadsheets/d/1Ft3RbeZ-w43kYSiLfYc1vxO41mK5lmJpcPC9GOYHAWc/edit
- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from clusterspec.cluster.model import Design
from clusterspec.finding import Problem
from clusterspec.procurement.bill import Bill, bill, may_have_fixed_ends
from clusterspec.procurement.items import PRICED_AS
from clusterspec.rules.knowledge.market import usual_cost
from clusterspec.rules.knowledge.purchases import name_of_kind
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning")
FABRIC = frozenset({"leaf_switch", "spine_switch", "core_switch", "cable", "transceiver"})
CABLING = frozenset({"cable", "transceiver"})
FEW = 3
"""Number of cables and transceivers per node whose price is negligible, by judgment: those of one link."""
SMALL = 0.08
"""Share of the priced parts below which cables and transceivers do not affect a decision, by judgment."""
SITE = frozenset({"rack", "frontend_cable", "out_of_band_cable", "frontend_switch", "out_of_band_switch", "storage"})
"""Parts that are often bought with the site, which the bill lists without a price."""


def check(design: Design, procurement: ProcurementSpec) -> Iterator[Problem]:
    if not procurement.prices or procurement.prices.get("node_hour") or procurement.quote:
        return
    missing: dict[str, int] = {}
    counted = bill(design)
    for item in counted.unpriced:
        if item.kind not in SITE:
            kind = PRICED_AS.get(item.kind, item.kind)
            missing[kind] = missing.get(kind, 0) + item.quantity
    if missing:
        named = ", ".join(plural(count, name_of_kind(kind)) for kind, count in missing.items())
        message = f"no price for {named}: the total is too low"
        yield RULE.problem(
            "procurement.prices",
            message,
            f"ask for the price of {', '.join(f'`{kind}`' for kind in missing)}; write 0 where another price includes it",
            severity="note" if _is_bought_otherwise(design, missing, procurement, counted) else "",
        )


def _is_bought_otherwise(
    design: Design, missing: Mapping[str, int], procurement: ProcurementSpec, counted: Bill
) -> bool:
    """Whether the unpriced parts may be bought separately or included in cables, or are too few to matter."""
    priced: Set[str] = (procurement.prices or {}).keys()
    if missing.keys() <= CABLING and _are_small_share(design, missing, procurement, counted):
        return True
    nodes = design.cluster.all_nodes if design.cluster is not None else 0
    if missing.keys() <= FABRIC and not FABRIC & priced:
        return True
    if missing.keys() <= CABLING and sum(missing.values()) <= FEW * nodes:
        return True
    fabric = design.spec.cluster.scale_out if design.spec.cluster is not None else None
    if nodes == 2 and missing.keys() <= FABRIC and (fabric is None or fabric.topology is None):
        return True
    return missing.keys() == {"transceiver"} and "cable" in priced and may_have_fixed_ends(design)


def _are_small_share(design: Design, missing: Mapping[str, int], procurement: ProcurementSpec, counted: Bill) -> bool:
    """Whether cables and transceivers, at usual prices, are a small share of the priced parts."""
    added = usual_cost(missing, design, procurement.currency)
    priced = procurement.prices or {}
    if counted.total is None or added is None or "node" not in priced or "cable" in priced or "transceiver" in priced:
        return False
    return added < SMALL * counted.total.low
