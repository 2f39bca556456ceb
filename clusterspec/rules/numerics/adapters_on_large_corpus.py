"""Low-rank adapters are trained on a large corpus.

## What it finds

`trainable` adapters in a run of 20B `tokens` or more, reinforcement learning excepted.

## Why it matters

Adapters learn a task or a style from millions of tokens. On a large corpus they reach a higher loss than full training:
in continued pre-training on 20B tokens, rank 256 on all matrices fell short, and lower ranks lost more.

## What to do

Train all weights, or use the adapters on far fewer tokens.

## When to ignore it

Ignore it where a comparison with full training on this corpus was made.

## Fires

```yaml workload.trainable
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 200B, trainable: {method: lora, rank: 8}}
layout: {framework: fsdp, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 500M, trainable: {method: lora, rank: 64}}
layout: {framework: fsdp, sharding: fsdp}
```

## Sources

- Continued pre-training with adapters: https://arxiv.org/abs/2405.09673
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
MOST = 20e9
"""Tokens of the continued pre-training in which adapters of rank 256 fell behind (arXiv 2405.09673)."""


def check(training: Workload) -> Iterator[Problem]:
    adapters, tokens = training.trainable, training.tokens
    if adapters is None or tokens is None or tokens < MOST or training.rl is not None:
        return
    yield RULE.problem(
        "workload.trainable",
        f"adapters of rank {adapters.rank} train on {display(tokens, '1')} tokens: on {display(MOST, '1')}, even adapters of rank 256 learned less than the whole model",
        "train all weights, or use the adapters on fewer tokens",
    )
