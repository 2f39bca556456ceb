"""A job that is to continue on fewer nodes has no second replica.

## What it finds

`recovery: shrink` where data parallelism is 1, or where one node holds a part of every replica.

## Why it matters

A job shrinks by dropping the replicas that the failed node belongs to. With a single replica over all nodes, a part of
the model is missing after a failure, and the job waits for the repair.

## What to do

Keep a spare node and restart on it, or use degrees that leave two replicas or more.

## When to ignore it

Do not ignore it.

## Fires

```yaml operations.recovery
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 8, pp: 4, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 8, pp: 4, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

## Sources

- Training that continues without the failed replicas: https://github.com/pytorch/torchft
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(operations: OperationsSpec, training: Workload, layout: Layout) -> Iterator[Problem]:
    if operations.recovery != "shrink" or training.rl is not None or layout.dp > 1:
        return
    yield RULE.problem(
        "operations.recovery",
        f"the only replica of the model takes all {plural(layout.nodes, 'node')} (dp 1): without one of them no whole replica is left",
        "keep a spare node and write `recovery: restart`, or use degrees that leave two replicas",
    )
