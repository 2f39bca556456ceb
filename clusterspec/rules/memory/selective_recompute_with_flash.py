"""Selective recomputation saves little memory with flash attention.

## What it finds

Megatron Core or NeMo (or no framework named) with `recompute: selective` and `attention: flash`.

## Why it matters

Megatron's selective recomputation discards the attention scores, and flash attention never stores them: it saves about
2 % of the activations instead of the 70 % of its paper.

## What to do

Use `none`, or `full` where memory is short.

## When to ignore it

Ignore it in releases and frameworks whose selective recomputation covers other modules (norms, activation functions,
expert layers).

## Fires

```yaml layout.recompute
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, attention: flash}
layout: {framework: megatron-core, tp: 4, recompute: selective}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, attention: plain}
layout: {framework: megatron-core, tp: 4, recompute: selective}
```

## Sources

- Users who looked for the saving: https://github.com/NVIDIA/Megatron-LM/issues/1225 https://github.com/NVIDIA/Megatron-LM/issues/1300
- The paper: https://arxiv.org/abs/2205.05198
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.legality import MEGATRON
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note")


def check(legality: Legality, training: Workload, layout: Layout) -> Iterator[Problem]:
    if layout.recompute == "selective" and training.attention == "flash" and legality.framework in MEGATRON:
        message = (
            "selective recomputation discards the attention scores, which flash attention never stores: it saves little"
        )
        yield RULE.problem("layout.recompute", message, "write `none`, or `full` where memory is short")
