"""The whole run has fewer tokens than one step.

## What it finds

`tokens` below `global_batch` × `sequence_length`.

## Why it matters

The run would not complete one step. Usually a suffix is missing: 15 for 15T.

## What to do

Check `tokens`, with its suffix (`15T`, `300B`).

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 15k}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 15T}
```

## Sources

- Tokens of a published run: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error")


def check(training: Workload) -> Iterator[Problem]:
    step = training.tokens_of_step
    if training.tokens is not None and training.tokens < step:
        message = f"{display(training.tokens, '1')} tokens are less than the {display(step, '1')} of one step"
        yield RULE.problem("workload.tokens", message, "check the suffix: 300B, 15T")
