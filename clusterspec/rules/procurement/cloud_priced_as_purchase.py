"""An instance of a cloud has a purchase price, or a machine is both bought and rented.

## What it finds

Prices of nodes, switches, cables, transceivers or NICs for a cloud platform, and a bought machine with
`prices.node` and `prices.node_hour`, both above 0, are an error. A quote that offers fabric switches or transceivers
for a cloud platform is a warning.

## Why it matters

An instance cannot be bought, and its rent includes the network, so the sum over the term is meaningless. Where both
prices are stated, the sum omits the rent.

## What to do

State `node_hour` for a rent and `node` for a purchase.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.prices.node
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 16, unit_price: 310000, price: 4960000}
    - {part: leaf switch, quantity: 8, unit_price: 36000, price: 288000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 55.04}}
```

## Sources

- What is in the price of an instance: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.part_names import SWITCHES
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error")
PARTS = ("node", "leaf_switch", "spine_switch", "core_switch", "cable", "transceiver", "nic")
FABRIC = (*SWITCHES, "switch", "transceiver")


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    prices = procurement.prices or {}
    stated = [key for key in PARTS if prices.get(key)]
    name = cluster.platform.name if cluster.platform else cluster.accelerator.name
    if cluster.cloud:
        yield from _fabric_in_quote_problem(procurement, cluster, name)
    if cluster.cloud and stated:
        message = f"{name} is rented, but `prices.{stated[0]}` is a purchase price"
        yield RULE.problem(
            f"procurement.prices.{stated[0]}", message, "state `node_hour`, the rent of a node for an hour"
        )
    elif prices.get("node") and prices.get("node_hour"):
        message = "nodes have a purchase price and a rent: the cost leaves the rent out"
        yield RULE.problem("procurement.prices.node_hour", message, "keep one of the two")


def _fabric_in_quote_problem(procurement: ProcurementSpec, cluster: Cluster, name: str) -> Iterator[Problem]:
    """The problem of the first quote line for a switch or transceivers, if the fabric belongs to the cloud provider."""
    for offer in offered_lines(procurement.quote or (), cluster):
        if offer.kind in FABRIC:
            message = f"{name} is rented with its network, but the quote offers `{offer.line.part}`"
            help_ = "take the line from the quote, or name the platform that is bought"
            yield RULE.problem(quote_path(offer.index, "part"), message, help_, severity="warning")
            return
