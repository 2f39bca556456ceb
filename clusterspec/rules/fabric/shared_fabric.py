"""Other jobs run on the same fabric.

## What it finds

`sharing: shared` with training over several nodes.

## Why it matters

Bursts of other jobs delay collectives, and one late rank delays all. The predicted step is that of an idle fabric;
steps on a shared one vary by tens of percent.

## What to do

Use a partition (a separate pod, placement by topology), a guaranteed traffic class, or congestion control that isolates
jobs. Then plan with the measured step time, not the predicted one.

## When to ignore it

Ignore it where the scheduler gives whole leaves to a job.

## Fires

```yaml cluster.scale_out.sharing
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {sharing: shared}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {sharing: exclusive}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2}
```

## Sources

- Noise on shared fabrics: https://arxiv.org/html/2410.21680v2
- Scheduling by topology: https://docs.coreweave.com/docs/products/sunk/topology-scheduling
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")


def check(training: Workload, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    if scale_out.sharing == "shared" and cluster.nodes > 1:
        message = "other jobs share the fabric, but the predicted step is that of an idle one: one late rank delays all"
        yield RULE.problem(
            "cluster.scale_out.sharing",
            message,
            "use a separate pod, a guaranteed traffic class, or placement by topology",
        )
