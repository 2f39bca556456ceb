"""Sequence parallelism without tensor parallelism has no effect.

## What it finds

`sequence_parallel: true` with tp 1.

## Why it matters

Sequence parallelism shards activations over the tensor-parallel ranks. With one rank it has no effect: Megatron
switches it off silently, and a plan that relies on its memory saving runs out of memory.

## What to do

Remove it. For long sequences without tp, `cp` shards the activations.

## When to ignore it

Ignore it in a base file that several specs extend.

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
        message = (
            "sequence parallelism shards activations over the tensor-parallel ranks, so with tp 1 it has no effect"
        )
        yield RULE.problem("layout.sequence_parallel", message, "remove the key, or use cp for long sequences")
