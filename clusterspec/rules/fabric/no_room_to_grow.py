"""One more node needs another tier of switches.

## What it finds

A planned fabric (its switch, ports or leaves are stated) of at most two tiers that connects these endpoints but has no
ports for one more node.

## Why it matters

Without free ports, growth needs another tier: new spines, new cables and days of downtime.

## What to do

Use switches with more ports, plan a tier now, or choose a size that leaves free ports.

## When to ignore it

Ignore it where growth means a second cluster.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 255
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 200
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized}
```

## Sources

- Free ports for growth: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "note", yields_to=("no-port-for-fabric-manager",))


def check(counts: FabricCount, written_scale_out: ScaleOutSpec | None, scale_out: ScaleOut) -> Iterator[Problem]:
    fabric = counts.fabric
    if fabric is None or fabric.capacity is None or not fabric.fits or fabric.tiers > 2 or not counts.planned:
        return
    if written_scale_out is not None and (written_scale_out.leaf_switches or 0) > (fabric.leaf_switches or 0):
        return  # leaves beyond those needed have the free ports
    if fabric.endpoints + scale_out.nics_per_node > fabric.capacity:
        message = f"{plural(fabric.tiers, 'tier')} of {fabric.switch_ports}-port switches {'connects' if fabric.tiers == 1 else 'connect'} {fabric.capacity:,} endpoints, but {fabric.endpoints:,} are used"
        yield RULE.problem(
            "cluster.nodes", message, "another node needs another tier: plan it now, or leave free ports"
        )
