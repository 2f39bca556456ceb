"""The spare nodes are a large part of the machine.

## What it finds

More than three `spare_nodes` that exceed 30 % of `nodes`, and one scale-up domain where spares are bought by the rack.

## Why it matters

Spares are bought, powered and cabled, and do no work. Published machines keep 2 to 10 % of their nodes as spares; in most
plans with more, `spare_nodes` is the number of all nodes, or of accelerators.

## What to do

State the nodes beyond those that work, or move them to `nodes`.

## When to ignore it

Ignore it where spares also serve other work, and state that as the reason.

## Fires

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 16}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 4}
```

## Sources

- Nodes held back for failures: https://arxiv.org/abs/2407.21783
- Hot spares of a pre-training run: https://arxiv.org/abs/2410.21680
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "heuristic")
SHARE = 0.3
"""Share of the working nodes up to which spares are usual."""
FEW = 3
"""Number of spares that a small machine may have, even if their share is large."""


def check(cluster: Cluster) -> Iterator[Problem]:
    spares, rack = cluster.spare_nodes, nodes_of_domain(cluster)
    if spares <= FEW or spares <= rack or spares <= SHARE * cluster.nodes:
        return
    message = f"{spares:,} spare nodes in addition to {cluster.nodes:,} that work make up {percent(spares / cluster.all_nodes)} of the machine, but do nothing"
    yield RULE.problem("cluster.spare_nodes", message, "state the nodes beyond those that work: 2 to 10 % are usual")
