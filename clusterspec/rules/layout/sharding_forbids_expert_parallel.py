"""Megatron's fully sharded data parallelism does not take experts.

## What it finds

Megatron Core with `sharding: fsdp` and ep above 1.

## Why it matters

It asserts at start.

## What to do

`zero1`, which shards the optimizer of experts over their own data-parallel ranks.

## When to ignore it

In releases whose own FSDP supports expert parallelism; name the framework `custom` there.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, ep: 8, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, ep: 8, sharding: zero1}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1037
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, rewrite

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if layout.framework == "megatron-core" and layout.sharding == "fsdp" and layout.ep > 1:
        message = f"megatron-core does not combine fsdp with expert parallelism (ep {layout.ep})"
        fix = rewrite("layout.sharding", "zero1")
        yield RULE.problem("layout.sharding", message, "write `sharding: zero1`", fix=fix)
