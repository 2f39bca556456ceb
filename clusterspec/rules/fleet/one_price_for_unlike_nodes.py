"""One price of a node applies to pools of different machines.

## What it finds

A fleet in which `procurement.prices.node` or `node_hour` is the price of the nodes of several pools whose accelerators, or
numbers of accelerators of a node, differ. Pools with prices of their own (`pools.NAME.prices`) are left out.

## Why it matters

A node of another generation costs up to twice as much. With the price of the cheaper one, budget, cost over the term and
cost of a token are wrong by the difference times the nodes of the other pools.

## What to do

State the price of each machine in the `prices` of its pool.

## When to ignore it

Ignore it where the supplier offers both machines at the same price, with the offer as the reason.

## Fires

```yaml procurement.prices.node
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
jobs: {}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 320000}}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16, prices: {node: 450000}}
  serve: {platform: dgx-h200, nodes: 8}
jobs: {}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 320000}}
```

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
jobs: {}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 320000}}
```

## Sources

- Prices of a pool: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list

RULE = Rule.of(__name__, "warning", "likely")


def check(fleet: Fleet) -> Iterator[Problem]:
    procurement = fleet.spec.procurement
    if procurement is None or not procurement.prices or len(fleet.pools) < 2:
        return
    for key in ("node", "node_hour"):
        if procurement.prices.get(key):
            yield from _shared_price_problem(fleet, key)


def _shared_price_problem(fleet: Fleet, key: str) -> Iterator[Problem]:
    """The problem of a price of the fleet that applies to nodes of several kinds."""
    sharing = [pool.cluster for pool in fleet.pools.values() if key not in (pool.spec.prices or {}) and pool.cluster]
    kinds = list(dict.fromkeys(map(_kind_of_node, sharing)))
    if len(kinds) > 1:
        message = f"`{key}` is one price for nodes of {and_list(kinds)}"
        help_ = "state the price of each machine in the `prices` of its pool"
        yield RULE.problem(("procurement", "prices", key), message, help_)


def _kind_of_node(cluster: Cluster) -> str:
    """The accelerators of a node, as a text."""
    return f"{cluster.accelerators_per_node} × {cluster.accelerator.id}"
