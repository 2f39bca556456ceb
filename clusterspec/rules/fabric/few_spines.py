"""The failure of one spine costs a noticeable part of the bandwidth.

## What it finds

One to six stated spines in a fabric of more than 256 endpoints, unless the bill of materials counts the same number.

## Why it matters

With four spines, a failed one takes a quarter of the bandwidth between leaves; with sixteen, 6 %.

## What to do

Use eight or more spines, with fewer ports if needed.

## When to ignore it

Ignore it for fabrics so small that eight spines would be nearly empty.

## Fires

```yaml cluster.scale_out.spine_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 44
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: fat-tree, leaf_switches: 11, spine_switches: 6}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: 8}
```

## Sources

- Spines of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "note", "heuristic")
FEW = 6
SMALL = 256
"""Endpoints up to which few spines are normal: the DGX SuperPOD of 31 nodes has four."""


def check(
    counts: FabricCount, written_scale_out: ScaleOutSpec, scale_out: ScaleOut, cluster: Cluster
) -> Iterator[Problem]:
    spines, ends = written_scale_out.spine_switches, cluster.all_nodes * scale_out.nics_per_node
    if counts.fabric is not None and spines == counts.fabric.spine_switches:
        return  # as many as the uplinks need
    if spines and 1 <= spines <= FEW and ends > SMALL:
        message = f"the failure of one of {plural(spines, 'spine')} takes {percent(1 / spines, 2)} of the bandwidth between leaves"
        yield RULE.problem("cluster.scale_out.spine_switches", message, "use eight or more spines, with fewer ports")
