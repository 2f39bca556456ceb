"""The nodes of a rack draw more than the rack may.

## What it finds

`power.node` (else the platform's) × `nodes_per_rack` + `rack_overhead` above `rack_limit`.

## Why it matters

The rack trips, or half of it stays dark: five nodes of 10.2 kW do not fit 44 kW.

## What to do

Fewer nodes in a rack, or a rack with more power.

## When to ignore it

Where power is capped below the nameplate: state the capped power of a node.

## Fires

```yaml cluster.power.nodes_per_rack
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {node: 10.2 kW, rack_limit: 44 kW, nodes_per_rack: 5}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {node: 10.2 kW, rack_limit: 44 kW, nodes_per_rack: 4}
```

## Sources

- Nodes in a rack: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
- A published design that overloads its racks: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import say

RULE = Rule.of(__name__, "error")


def check(facts: Facts, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    each, limit, nodes = cluster.node_power, power.rack_limit, power.nodes_per_rack
    if each is None or limit is None or nodes is None or facts.slips.concern("power"):
        return
    overhead = power.rack_overhead.value if power.rack_overhead else 0.0
    drawn = each.value * nodes + overhead
    if drawn <= limit.value or each.value <= 0:
        return
    fit = max(0, int((limit.value - overhead) // each.value))
    besides = f" and {say(overhead, 'W')} besides" if overhead else ""
    yield RULE.problem(
        "cluster.power.nodes_per_rack",
        f"{nodes} nodes of {say(each.value, 'W')}{besides} draw {say(drawn, 'W')} of a rack's {say(limit.value, 'W')}",
        f"at most {fit} nodes a rack, which makes {-(-cluster.all_nodes // fit)} racks" if fit else "another rack",
    )
