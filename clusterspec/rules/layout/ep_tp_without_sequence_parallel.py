"""Experts and tensor parallelism without sequence parallelism.

## What it finds

`ep` above 1, `tp` above 1 and `sequence_parallel: false`, in Megatron Core or NeMo (or no framework named).

## Why it matters

Every tensor-parallel rank then dispatches all tokens of the group instead of its share: tp times the all-to-all and tp
times the buffers. Megatron Core warns of it.

## What to do

`sequence_parallel: true`.

## When to ignore it

Hardly ever; a very small tp on very short sequences may not notice.

## Fires

```yaml layout.sequence_parallel
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: false}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: true}
```

## Sources

- Megatron Core's warning: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/model_parallel_config.py#L560
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import framework
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.conditions import MEGATRON
from clusterspec.rules.rule import Rule, rewrite

RULE = Rule.of(__name__, "warning")


def check(facts: Facts, layout: Layout) -> Iterator[Problem]:
    if layout.ep > 1 and layout.tp > 1 and not layout.sequence_parallel and framework(facts) in MEGATRON:
        at = "layout.sequence_parallel"
        message = f"without sequence parallelism each of the {layout.tp} tensor-parallel ranks dispatches every token"
        yield RULE.problem(at, message, "write `sequence_parallel: true`", fix=rewrite(at, "true"))
