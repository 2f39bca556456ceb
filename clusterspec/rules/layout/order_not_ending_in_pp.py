"""With experts, Megatron wants the pipeline last in the order of ranks.

## What it finds

Megatron Core or NeMo with pp and ep above 1, and an `order` that does not end in pp.

## Why it matters

Dense and expert groups are cut separately and must agree on who is in which stage; Megatron asserts it.

## What to do

`order: [tp, cp, ep, dp, pp]`.

## When to ignore it

Never.

## Fires

```yaml layout.order
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, dp, pp]}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/parallel_state.py#L902
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.conditions import BUILT_ON_MEGATRON
from clusterspec.rules.rule import Rule, rewrite
from clusterspec.rules.words import as_yaml

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if layout.framework not in BUILT_ON_MEGATRON or layout.pp == 1 or layout.ep == 1 or layout.order[-1] == "pp":
        return
    order = as_yaml((*(axis for axis in layout.order if axis != "pp"), "pp"))
    message = f"{layout.framework} with experts wants pp last in the order, not {layout.order[-1]}"
    yield RULE.problem("layout.order", message, f"write `order: {order}`", fix=rewrite("layout.order", order))
