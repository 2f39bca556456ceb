"""A transformer is trained with plain gradient descent.

## What it finds

`optimizer: sgd` or `momentum` in training.

## Why it matters

Gradient descent without adaptation trains transformers much slower than Adam, since their blocks differ in curvature.
The saved memory does not outweigh the additional steps.

## What to do

Use adamw, adafactor, lion or muon.

## When to ignore it

Ignore it for benchmarks of memory, and for models whose recipe was tested with it.

## Fires

```yaml workload.optimizer
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, optimizer: sgd}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, optimizer: muon}
layout: {tp: 1}
```

## Sources

- Why transformers need Adam: Zhang et al., https://arxiv.org/abs/2402.16788
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")
PLAIN = frozenset({"sgd", "momentum"})


def check(training: Workload) -> Iterator[Problem]:
    if training.optimizer in PLAIN:
        message = f"`{training.optimizer}` trains transformers much slower than an adaptive optimizer"
        yield RULE.problem("workload.optimizer", message, "use adamw, adafactor, lion or muon")
