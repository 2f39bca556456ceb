"""Overlap of tensor-parallel communication needs sequence parallelism.

## What it finds

Megatron Core or NeMo with tp above 1, `overlap.tp: true` and `sequence_parallel: false`.

## Why it matters

The overlap splits all-gather and reduce-scatter into chunks that run concurrently with GEMMs. Without sequence
parallelism there are only all-reduces. Megatron asserts sequence parallelism.

## What to do

Write `sequence_parallel: true`.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.overlap.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {framework: megatron-core, tp: 8, sequence_parallel: false, overlap: {tp: true}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {framework: megatron-core, tp: 8, sequence_parallel: true, overlap: {tp: true}}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/model_parallel_config.py#L504
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if (
        layout.capabilities.has("requires.sequence_parallel_with_tp_overlap")
        and layout.tp > 1
        and layout.overlap.tp == "full"
        and not layout.sequence_parallel
    ):
        message = f"{layout.framework} overlaps tensor-parallel communication only with sequence parallelism"
        yield RULE.problem("layout.overlap.tp", message, "write `sequence_parallel: true`, or remove the overlap")
