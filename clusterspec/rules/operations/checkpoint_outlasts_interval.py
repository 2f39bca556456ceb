"""A checkpoint takes as long as the time between two.

## What it finds

`checkpoint_time` of at least `checkpoint_interval`.

## Why it matters

The run does nothing but save.

## What to do

A longer interval, a faster store, or asynchronous checkpoints (then state the time that training stands still).

## When to ignore it

Never.

## Fires

```yaml operations.checkpoint_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 10 min, checkpoint_time: 600 s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 10 min, checkpoint_time: 60 s}
```

## Sources

- Storage for training: https://glennklockwood.com/garden/storage-for-llm-training
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec

RULE = Rule.of(__name__, "error")


def check(operations: OperationsSpec) -> Iterator[Problem]:
    cost, interval = operations.checkpoint_time, operations.checkpoint_interval
    if cost is not None and interval is not None and cost.value >= interval.value:
        message = f"saving takes {cost.written}, and starts again every {interval.written}"
        yield RULE.problem(
            "operations.checkpoint_time", message, "a longer interval, a faster store, or asynchronous saving"
        )
