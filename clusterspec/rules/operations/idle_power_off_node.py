"""The stated power of an idle node does not fit its full power.

## What it finds

A `power.node_idle` below 5 % or above 80 % of the power of the node at full load.

## Why it matters

Energy and its cost are computed from both figures. Nodes of accelerators draw 15 to 50 % of their full power without work:
fans, memory and processors run on.

## What to do

Give the power of a node that is on and has no job.

## When to ignore it

Ignore it for nodes that are switched off when they have no job.

## Fires

```yaml cluster.power.node_idle
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node_idle: 200 W}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node_idle: 2 kW}}
```

## Sources

- Idle and full power of nodes with eight H100: https://arxiv.org/abs/2412.08602
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "heuristic")
LEAST, MOST = 0.05, 0.8
"""Usual range of the power of an idle node, as shares of its full power."""


def check(power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    idle, full = power.node_idle, cluster.node_power
    if idle is None or full is None or LEAST * full.value <= idle.value <= MOST * full.value:
        return
    message = f"{idle.written} without work is {percent(idle.value / full.value, 2)} of the {display(full.value, 'W')} at full load"
    yield RULE.problem("cluster.power.node_idle", message, "give the power of a node that is on and has no job")
