"""The stated total of accelerators is not nodes times accelerators per node.

## What it finds

A `cluster.accelerators` that differs from `nodes` × `accelerators_per_node`. Spares count on top and do no work, so they
are left out.

## Why it matters

One of the three figures is wrong, and orders are placed by any of them. A vendor's own reference table prints 9,216
accelerators beside 1,296 nodes of 8, which hold 10,368.

## What to do

Correct the total or the number of nodes; or leave the total out, since nothing uses it.

## When to ignore it

Never.

## Fires

```yaml cluster.accelerators
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1296, accelerators: 9216}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1152, accelerators: 9216}
```

## Sources

- The table: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "error")


def check(written_cluster: ClusterSpec, cluster: Cluster) -> Iterator[Problem]:
    said = written_cluster.accelerators
    if said is None or said == cluster.accelerators:
        return
    nodes, each = cluster.nodes, cluster.accelerators_per_node
    help_ = f"write {cluster.accelerators:,}"
    if said % each == 0:
        help_ += f", or {said // each:,} nodes"
    if said == cluster.all_nodes * each:
        help_ += "; spares are left out of the total"
    yield RULE.problem(
        "cluster.accelerators",
        f"{nodes:,} nodes of {each} are {cluster.accelerators:,} accelerators, not {said:,}",
        help_,
        related=[("cluster.nodes", f"{nodes:,} nodes")],
    )
