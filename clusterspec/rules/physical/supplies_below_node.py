"""The power supplies of a node give less than it draws.

## What it finds

`power.supplies` whose number × power is below the power of a node: an error.

## Why it matters

The node throttles or does not start. Spare supplies come on top: with one of six in reserve, five have to carry the node.

## What to do

Plan more or larger supplies, or correct the power of one supply or of the node.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.power.supplies
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  power: {node: 10.2 kW, supplies: {count: 3, power: 3.3 kW}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  power: {node: 10.2 kW, supplies: {count: 4, power: 3.3 kW}}
```

## Sources

- Six supplies, of which four carry the system: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    supplies, node = power.supplies, cluster.node_power
    if (
        supplies is None
        or not supplies.count
        or supplies.power is None
        or node is None
        or deviations.has_any_of("power")
    ):
        return
    given = supplies.count * supplies.power.value
    if given < node.value:
        message = f"{supplies.count:,} power supplies of {supplies.power.written} give {display(given, 'W')} to a node that draws {display(node.value, 'W')}"
        yield RULE.problem("cluster.power.supplies", message, "plan more or larger supplies")
