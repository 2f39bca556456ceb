"""An accelerator has more ranks than devices.

## What it finds

A `ranks_per_accelerator` above 1 for a part of NVIDIA or Gaudi, whose drivers present each package as one device.

## Why it matters

NCCL and HCCL refuse two ranks on one device ("Duplicate GPU detected"). Two dies in a package, as in Blackwell, are one
device too. Twice the ranks also make every degree of the layout too large.

## What to do

Remove the key. Partitions of a GPU cannot join a collective either.

## When to ignore it

Ignore it for independent processes that share a GPU and exchange nothing.

## Fires

```yaml cluster.ranks_per_accelerator
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 4, ranks_per_accelerator: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi250x-4, nodes: 4, ranks_per_accelerator: 2}
```

## Sources

- One rank for each device: https://github.com/NVIDIA/nccl/blob/v2.27.3-1/src/init.cc
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "error")
ONE_DEVICE = frozenset({"NVIDIA"})
"""Vendors whose drivers present each package as one device."""


def check(written_cluster: ClusterSpec, cluster: Cluster) -> Iterator[Problem]:
    stated, accelerator = written_cluster.ranks_per_accelerator, cluster.accelerator
    one = accelerator.vendor in ONE_DEVICE or accelerator.architecture.startswith("gaudi")
    if stated is not None and stated > 1 and one:
        message = f"{stated} ranks for each {accelerator.id}, which is one device: the collective library refuses the second rank"
        yield RULE.problem("cluster.ranks_per_accelerator", message, "remove the key")
