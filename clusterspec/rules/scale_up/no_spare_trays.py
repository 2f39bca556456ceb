"""The job uses every node of every rack-scale domain, and there are no spares.

## What it finds

A domain of several nodes, no `spare_nodes`, and a layout that fills all nodes.

## Why it matters

One failed tray stops a job on 72 accelerators until it is repaired: the other 17 trays are idle. With 16 of 18 trays in
use, a spare tray replaces it within minutes.

## What to do

Use 16 of 18 trays (`nodes_per_domain: 16`); 64 accelerators also divide more easily than 72.

## When to ignore it

Ignore it for short benchmarks.

## Fires

```yaml layout
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 144}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 128}
layout: {tp: 8, nodes_per_domain: 16}
```

## Sources

- Trays held back in practice: https://github.com/nebius/nebius-solutions-library/pull/1110
- Jobs on 64 of 72: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note")


def check(cluster: Cluster, layout: Layout, workload: Workload | None) -> Iterator[Problem]:
    there = nodes_of_domain(cluster)
    switched = cluster.scale_up.topology == "switched"
    if there == 1 or not switched or cluster.spare_nodes or layout.nodes < cluster.nodes:
        return
    serves = workload is not None and workload.kind == "serve"
    effect = "stops its engines" if serves else "stops it"
    used = f"{'the plan' if serves else 'the job'} uses all {cluster.nodes:,} nodes ({there} per domain)"
    message = f"{used} without a spare: one failed node {effect}"
    help_ = f"use {there - 2} of {there} nodes (`nodes_per_domain: {there - 2}`), or add `spare_nodes`"
    yield RULE.problem("layout", message, help_ if there > 3 else "add `spare_nodes`")
