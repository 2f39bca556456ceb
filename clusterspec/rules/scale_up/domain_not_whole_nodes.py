"""The scale-up domain is not a whole number of nodes.

## What it finds

A scale-up domain that neither divides the accelerators per node nor is a multiple of them; or a stated domain larger
than the cluster, spares included.

## Why it matters

A domain consists of whole nodes (18 trays of four in an NVL72), or a node of whole domains (four bridged pairs). Any
other domain cannot be built, and every placement computed from it is wrong.

## What to do

Use 72 for an NVL72, 8 for an HGX or DGX board, 2 for bridged pairs, 1 for PCIe.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_up.domain
clusterspec: 1
cluster: {accelerator: gb200, accelerators_per_node: 8, nodes: 18, scale_up: {domain: 36}}
```

```yaml cluster.scale_up.domain
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, scale_up: {domain: 64}}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: gb200, accelerators_per_node: 4, nodes: 18, scale_up: {domain: 36}}
```

## Sources

- Domain and node confused: https://github.com/meta-pytorch/torchrec/pull/3696 https://github.com/THUDM/slime/pull/95
- NCCL on rack-scale domains: https://github.com/NVIDIA/nccl/issues/1604
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "error")


def check(written_scale_up: ScaleUpSpec | None, cluster: Cluster) -> Iterator[Problem]:
    domain, node = cluster.scale_up.domain, cluster.accelerators_per_node
    written = written_scale_up.domain if written_scale_up else None
    there = cluster.all_nodes * node
    at = "cluster.scale_up.domain"
    if written is not None and written > there:
        message = f"a domain of {written:,} accelerators exceeds the cluster of {there:,}"
        yield RULE.problem(at, message, f"write at most {there:,}, or leave the key out: the platform supplies it")
    elif domain % node and node % domain:
        message = f"a domain of {domain} accelerators is not a whole number of nodes of {node}, nor the reverse"
        shape = written_scale_up.shape if written_scale_up else None
        at = at if written is not None or not shape else "cluster.scale_up.shape"
        yield RULE.problem(at, message, f"use a multiple or a divisor of {node}, or correct `accelerators_per_node`")
