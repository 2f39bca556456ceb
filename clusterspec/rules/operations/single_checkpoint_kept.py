"""Only one checkpoint is kept.

## What it finds

`operations.checkpoint.keep: 1` for training.

## Why it matters

Saving replaces the only complete checkpoint. After a failure during saving, a damaged file, or a loss that diverged
before the last save, the job has no checkpoint to restart from.

## What to do

Keep at least two checkpoints; three to five and one per day are better. The storage system must hold one more than you
keep, since a new one is written before an old one is deleted.

## When to ignore it

Ignore it where checkpoints are copied to another storage system after each save.

## Fires

```yaml operations.checkpoint.keep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {tp: 2}
operations: {checkpoint: {interval: 1 h, pause: 20 s, keep: 1}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {tp: 2}
operations: {checkpoint: {interval: 1 h, pause: 20 s, keep: 3}}
```

## Sources

- Runs that went back several checkpoints after a divergence: https://arxiv.org/abs/2205.01068
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec

RULE = Rule.of(__name__, "warning")


def check(operations: OperationsSpec, training: Workload) -> Iterator[Problem]:
    saving = operations.checkpoint
    if saving is not None and saving.keep == 1 and training.kind == "train":
        message = "one checkpoint is kept: a failure during saving leaves none to restart from"
        yield RULE.problem("operations.checkpoint.keep", message, "keep three or more")
