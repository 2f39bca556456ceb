"""A level that contains all nodes has an oversubscription, although no level is above it.

## What it finds

A level of `scale_out.levels` with an `oversubscription` above 1 and one block for all nodes of the cluster, spares included.

## Why it matters

The oversubscription of a level applies to the uplinks of its blocks. With a single block no traffic uses uplinks: the
ratio changes no bandwidth, no switch, no cable and no estimate. State the ratio between pods and core at the level of
the pods.

## What to do

State the ratio at the level below, whose uplinks are oversubscribed. Remove it where all nodes share one block.

## When to ignore it

Ignore it where the block is cabled for nodes that come later, beyond the phases of the spec.

## Fires

```yaml cluster.scale_out.levels[2].oversubscription
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 256
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    levels:
      - {name: leaf, nodes: 4, oversubscription: 1}
      - {name: pod, nodes: 64, oversubscription: 1}
      - {name: core, nodes: 256, oversubscription: 4}
    flow_control: {pfc: true, ecn: true}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 256
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    levels:
      - {name: leaf, nodes: 4, oversubscription: 1}
      - {name: pod, nodes: 64, oversubscription: 4}
      - {name: core, nodes: 256}
    flow_control: {pfc: true, ecn: true}
```

## Sources

- Ratios of the layers of a Clos network: https://doi.org/10.1145/1402958.1402967
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plain

RULE = Rule.of(__name__, "warning")


def check(written_scale_out: ScaleOutSpec, cluster: Cluster) -> Iterator[Problem]:
    for number, level in enumerate(written_scale_out.levels or ()):
        ratio = level.oversubscription.value if level.oversubscription is not None else 1.0
        if level.nodes is None or ratio <= 1 or level.nodes < cluster.all_nodes:
            continue
        yield RULE.problem(
            f"cluster.scale_out.levels.{number}.oversubscription",
            f"one block of {level.nodes:,} nodes holds the whole cluster ({cluster.all_nodes:,}), so nothing crosses its uplinks: an oversubscription of {plain(ratio)}:1 changes no figure",
            "state the oversubscription at the level below" if number else "drop it, or add the level above",
        )
