"""A block of one fabric level is not a whole number of the blocks below it.

## What it finds

A level of `scale_out.levels` whose `nodes` are fewer than the `nodes` of the level below, or not a multiple of them.

## Why it matters

A leaf then belongs to two pods at once: its uplinks lead to both, or one pod has nodes on a leaf of another. The stated
oversubscription of the level holds for neither pod, and cables and switches cannot be counted.

## What to do

Use a multiple of the nodes of the lower level.

## When to ignore it

Ignore it where the last block alone is smaller; state the nodes of a full block.

## Fires

```yaml cluster.scale_out.levels[1].nodes
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 200
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    levels: [{name: leaf, nodes: 4, oversubscription: 1}, {name: pod, nodes: 50, oversubscription: 4}]
    flow_control: {pfc: true, ecn: true}
```

```yaml cluster.scale_out.levels[1].nodes
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 96
  scale_out:
    levels: [{name: leaf, nodes: 48, oversubscription: 1}, {name: pod, nodes: 8, oversubscription: 4}]
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 200
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    levels: [{name: leaf, nodes: 4, oversubscription: 1}, {name: pod, nodes: 48, oversubscription: 4}]
    flow_control: {pfc: true, ecn: true}
```

## Sources

- Folded Clos networks of whole blocks: https://doi.org/10.1145/1402958.1402967
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plain, plural

RULE = Rule.of(__name__, "error")


def check(written_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    below = None
    for number, level in enumerate(written_scale_out.levels or ()):
        nodes = level.nodes
        if below is not None and nodes is not None and nodes < below:
            yield RULE.problem(
                f"cluster.scale_out.levels.{number}.nodes",
                f"a block of {plural(nodes, 'node')} is smaller than a block of the level below, which has {below:,}",
                "list the levels from the leaves to the core, each with the nodes of one of its blocks",
            )
        elif below is not None and nodes is not None and nodes % below:
            least = nodes // below * below
            yield RULE.problem(
                f"cluster.scale_out.levels.{number}.nodes",
                f"{nodes:,} nodes are {plain(nodes / below, 3)} blocks of the {below:,} nodes of the level below",
                f"use {least:,} or {least + below:,} nodes",
            )
        below = nodes or below
