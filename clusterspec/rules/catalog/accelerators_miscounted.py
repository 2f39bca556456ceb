"""The stated total of accelerators is not nodes × accelerators per node.

## What it finds

A `cluster.accelerators` that differs from `nodes` × `accelerators_per_node`. Spare nodes are not counted.

## Why it matters

One of the three figures is wrong, and an order may use any of them. A vendor's reference table lists 9,216 accelerators
for 1,296 nodes of 8, which are 10,368 accelerators.

## What to do

Correct the total or the number of nodes; or remove the total, which is only checked.

## When to ignore it

Do not ignore it.

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
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(written_cluster: ClusterSpec, cluster: Cluster) -> Iterator[Problem]:
    written = written_cluster.accelerators
    if written is None or written == cluster.accelerators:
        return
    nodes, each = cluster.nodes, cluster.accelerators_per_node
    help_ = f"write `accelerators: {cluster.accelerators}`"
    if written % each == 0:
        help_ += f", or {plural(written // each, 'node')}"
    if written == cluster.all_nodes * each:
        help_ += "; the total does not include spares"
    yield RULE.problem(
        "cluster.accelerators",
        f"{plural(nodes, 'node')} of {plural(each, 'accelerator')} {'has' if nodes == 1 else 'have'} {cluster.accelerators:,}, not {written:,}",
        help_,
        related=[("cluster.nodes", plural(nodes, "node"))],
    )
