"""An acceptance test needs more nodes than the cluster has.

## What it finds

An entry whose `nodes` or `ranks` exceed those of the cluster, spares included.

## Why it matters

The test cannot be run, so the clause proves nothing.

## What to do

Use fewer nodes or ranks.

## When to ignore it

Ignore it where the test is to run on a later extension of the cluster.

## Fires

```yaml acceptance[0].nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, spare_nodes: 1}
acceptance:
  - {collective: all-reduce, nodes: 16, size: 8 GiB, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, spare_nodes: 1}
acceptance:
  - {collective: all-reduce, nodes: 9, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- Tests at scale: https://aidatacenterguide.com/part-13-commissioning-and-go-live/13-9-cluster-scale-benchmarking-reference-training-and-storage-scheduler-validat
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec

RULE = Rule.of(__name__, "error")


def check(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    there = cluster.all_nodes
    for number, test in enumerate(acceptance):
        if test.nodes is not None and test.nodes > there:
            message = f"a test over {test.nodes:,} nodes cannot run on a cluster of {there:,}"
            yield RULE.problem(("acceptance", number, "nodes"), message, f"use at most {there:,}")
        elif test.ranks is not None and test.ranks > there * cluster.ranks_per_node:
            message = f"a test over {test.ranks:,} ranks cannot run on a cluster of {there * cluster.ranks_per_node:,}"
            yield RULE.problem(
                ("acceptance", number, "ranks"), message, f"use at most {there * cluster.ranks_per_node:,}"
            )
