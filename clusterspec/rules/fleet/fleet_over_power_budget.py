"""The pools of a fleet draw more than their power budget together.

## What it finds

A fleet whose nodes with spares, switches, rack-scale domains and racks at full load, of all pools, draw more than
`operations.power_budget`. The sum omits pools of unknown power, and the message names them.

## Why it matters

Each pool is within its own budget, and no single design shows the excess. In a data hall that cannot supply the full
load, breakers trip or power caps slow the accelerators when all jobs run at once.

## What to do

Reduce the nodes of a pool, cap their power, or put a pool in another data hall.

## When to ignore it

Ignore it where jobs of different pools never run at the same time.

## Fires

```yaml operations.power_budget
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
operations: {power_budget: 300 kW}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
operations: {power_budget: 330 kW}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Sources

- 14.3 kW of a DGX B200: `clusterspec catalog show dgx-b200`
- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.cost.nameplates import machine_watts
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.standard import sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "error")
HELP = "take fewer nodes in a pool, or cap their power"


def check(fleet: Fleet) -> Iterator[Problem]:
    operations = fleet.spec.operations
    if operations is None or operations.power_budget is None:
        return
    budget = operations.power_budget.value
    drawn = {name: machine_watts(pool.design) if pool.design else None for name, pool in fleet.pools.items()}
    watts = {name: found for name, found in drawn.items() if found is not None}
    total = sum_of(watts.values())
    if total <= budget:
        return
    parts = " + ".join(f"{display(each, 'W')} ({name})" for name, each in watts.items())
    unknown = ", ".join(name for name, found in drawn.items() if found is None)
    message = f"all pools draw {parts} = {display(total, 'W')} at full load, above the budget of {display(budget, 'W')}"
    message += f"; without {unknown}, whose power is not known" if unknown else ""
    guessed = any(pool.cluster is not None and pool.cluster.node_power is None for pool in fleet.pools.values())
    yield RULE.problem("operations.power_budget", message, HELP, confidence="likely" if guessed else "certain")
