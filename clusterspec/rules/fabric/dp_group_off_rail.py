"""Data-parallel peers are on different rails.

## What it finds

A rail-optimized fabric, where the product of the degrees before dp in the order neither divides the ranks of a node nor
is a multiple of them. The finding is a note where the fabric levels that the job crosses are not oversubscribed, since
the cost is then one more hop; else a warning.

## Why it matters

Peers on one rail communicate over one leaf. Between rails, every reduction crosses the spines.

## What to do

Use degrees whose product divides the ranks of a node, or is a multiple of them.

## When to ignore it

Ignore it where a measured all-reduce of such groups is as fast as one on a single rail.

## Fires

```yaml layout.order
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 12
  scale_out: {technology: infiniband-ndr, topology: rail-optimized}
workload: {model: llama-3.1-8b, sequence_length: 12288, global_batch: 256}
layout: {tp: 2, cp: 3, sequence_parallel: true}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 12
  scale_out: {technology: infiniband-ndr, topology: rail-optimized}
workload: {model: llama-3.1-8b, sequence_length: 12288, global_batch: 240}
layout: {tp: 2, cp: 4, sequence_parallel: true}
```

## Sources

- Rails and groups: https://github.com/NVIDIA/nccl/issues/836 https://github.com/NVIDIA/nccl/issues/2193
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")


def check(
    placements: Placements, cluster: Cluster, layout: Layout, scale_out: ScaleOut, oversubscription: float
) -> Iterator[Problem]:
    if (
        scale_out.topology != "rail-optimized"
        or layout.dp == 1
        or cluster.scale_up.domain > cluster.accelerators_per_node
    ):
        return
    inner = 1
    for axis in layout.order:
        if axis.startswith("dp"):
            break
        inner *= 1 if axis == "ep" else getattr(layout, axis)
    node, placement = cluster.ranks_per_node, placements.of("dp")
    if node % inner and inner % node and placement is not None and placement.nodes > 1:
        message = f"the {inner} ranks before dp neither divide the {node} ranks of a node nor are a multiple: dp peers are on different rails, and their traffic crosses the spines"
        yield RULE.problem(
            "layout.order",
            message,
            f"use degrees before dp whose product divides {node}, or is a multiple of it",
            severity="warning" if oversubscription > 1 else "note",
        )
