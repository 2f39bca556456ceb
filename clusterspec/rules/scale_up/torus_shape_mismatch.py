"""The shape of the torus and the number of accelerators describe different machines.

## What it finds

A stated `shape` whose product differs from the stated `domain` or, without a stated domain, does not divide the
accelerators of the cluster.

## Why it matters

A 4×4×4 slice has 64 chips. With 48 in the cluster, the slice or the number of nodes is wrong.

## What to do

Correct the shape, the domain or the number of nodes.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_up.shape
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 16
  scale_up: {shape: [4, 4, 8], domain: 64}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 16
  scale_up: {shape: [4, 4, 4], domain: 64}
```

## Sources

- Slices and their chips: https://docs.cloud.google.com/tpu/docs/v5p
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "error")


def check(written_scale_up: ScaleUpSpec, cluster: Cluster) -> Iterator[Problem]:
    shape, domain = written_scale_up.shape, written_scale_up.domain
    if not shape:
        return
    product, written = prod(shape), " × ".join(map(str, shape))
    there = cluster.all_nodes * cluster.accelerators_per_node
    if domain is not None and product != domain:
        message = f"shape {written} = {product:,} accelerators contradicts a domain of {domain:,}"
        yield RULE.problem(
            "cluster.scale_up.shape",
            message,
            "correct one of the two",
            related=[("cluster.scale_up.domain", "the domain")],
        )
    elif domain is None and there % product and cluster.accelerators % product:
        message = (
            f"shape {written} = {product:,} accelerators does not divide the {cluster.accelerators:,} of the cluster"
        )
        yield RULE.problem("cluster.scale_up.shape", message, "correct the shape, or the number of nodes")
