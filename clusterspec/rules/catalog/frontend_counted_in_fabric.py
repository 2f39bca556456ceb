"""The fabric's bandwidth includes the frontend network of the instance.

## What it finds

A cloud instance whose stated `nics_per_node` × `nic_bandwidth` equals its accelerator fabric plus its frontend (within
2 %).

## Why it matters

Collectives never use the frontend. GCP gives 1,800 Gb/s for an A3 Mega: 1,600 Gb/s connect accelerators, 200 Gb/s are
for storage and the internet.

## What to do

Count only the NICs of the scale-out fabric, and declare the others under `networks.frontend`.

## When to ignore it

Do not ignore it where collectives use the fabric.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: gcp-a3-megagpu-8g
  nodes: 4
  scale_out: {nics_per_node: 9, nic_bandwidth: 200 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: gcp-a3-megagpu-8g
  nodes: 4
  scale_out: {nics_per_node: 8, nic_bandwidth: 200 Gb/s}
```

## Sources

- 1,800 = 1,600 + 200: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L566
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.nics import includes_frontend
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error", "likely")


def check(
    written_scale_out: ScaleOutSpec, cluster: Cluster, platform: Platform, scale_out: ScaleOut
) -> Iterator[Problem]:
    if not includes_frontend(platform, cluster, written_scale_out) or platform.nic_bandwidth is None:
        return
    nics = platform.nics_per_node or 0
    fabric, stated = nics * platform.nic_bandwidth.value, scale_out.node_bandwidth
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"{display_bits(stated)} per node is the scale-out fabric of {platform.name} ({display_bits(fabric)}) plus its frontend",
        f"count {nics} NICs of {display_bits(platform.nic_bandwidth.value)}, and declare the rest under `networks.frontend`",
    )
