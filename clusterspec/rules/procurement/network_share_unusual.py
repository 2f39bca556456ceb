"""The network's share of the price is unusual.

## What it finds

Switches, cables, transceivers and NICs that together cost less than 3 % or more than 25 % of network plus nodes. The
rule applies only where all of these have prices and the price of a node is within the market range.

## Why it matters

In a published bill of 512 nodes, the network without optics takes 5 to 9 % of the price. A share far below means
missing parts; a share far above means parts counted twice, or a fabric larger than the machine needs.

## What to do

Request the bill of materials and compare it line by line with `clusterspec bom`.

## When to ignore it

Ignore it for machines of a few nodes, where one switch is a large part.

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
  prices: {node: 310000, leaf_switch: 3600, spine_switch: 3600, cable: 90, transceiver: 12}
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

- A bill of 512 nodes: https://docs.google.com/spreadsheets/d/1Ft3RbeZ-w43kYSiLfYc1vxO41mK5lmJpcPC9GOYHAWc/edit
- Shares in a cost model: https://ai-infrastructure.net/build-vs-rent-gpu-cost-model/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Design
from clusterspec.finding import Problem
from clusterspec.money import Money
from clusterspec.procurement.bill import bill
from clusterspec.procurement.items import Item
from clusterspec.rules.knowledge.purchases import is_off_market
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "heuristic")
USUAL = (0.03, 0.25)
FABRIC = frozenset({"nic", "leaf_switch", "spine_switch", "core_switch", "cable", "transceiver"})


def check(design: Design, procurement: ProcurementSpec) -> Iterator[Problem]:
    if not procurement.prices:
        return
    node = procurement.prices.get("node")
    if node and design.cluster is not None and is_off_market(node, design.cluster, procurement.currency):
        return  # `price-outside-market` reports the cause
    counted = bill(design)
    fabric_lines = [item for item in counted.items if item.kind in FABRIC]
    if counted.fabric is None or any(item.price is None for item in fabric_lines):
        return
    nodes = _price_midpoint(item for item in counted.items if item.kind in {"node", "spare_node"})
    network = _price_midpoint(fabric_lines)
    if nodes <= 0:
        return
    share = network / (network + nodes)
    if not USUAL[0] <= share <= USUAL[1]:
        message = f"the network is {percent(share, 2)} of the price of nodes and network; 3 to 25 % is usual"
        yield RULE.problem("procurement.prices", message, "compare the quote with `clusterspec bom`, line by line")


def _price_midpoint(items: Iterable[Item]) -> float:
    """The sum of prices at their midpoints."""
    return Money.total(item.price for item in items if item.price is not None).middle.low
