"""Sequence parallelism is asked for where there is no tensor parallelism.

## What it finds

`sequence_parallel: true` with tp 1.

## Why it matters

It shards activations over the tensor-parallel ranks. With one rank it does nothing: Megatron switches it off without a
word, and a plan that counted on its memory runs out.

## What to do

Drop it. For long sequences without tp, `cp` is what shards the activations.

## When to ignore it

In a base that several specs extend.

## Fires

```yaml layout.sequence_parallel
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: 1, sequence_parallel: true}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: 2, sequence_parallel: true}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1436
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "warning")


def check(written_layout: LayoutSpec, layout: Layout) -> Iterator[Problem]:
    if written_layout.sequence_parallel and layout.tp == 1:
        message = "sequence parallelism shards over the tensor-parallel ranks, and tp is 1: it does nothing"
        yield RULE.problem("layout.sequence_parallel", message, "drop the key, or use cp for long sequences")
