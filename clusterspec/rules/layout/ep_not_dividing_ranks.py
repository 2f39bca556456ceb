"""The ranks of a pipeline stage do not divide into expert groups.

## What it finds

Ranks of one pipeline stage (dp × cp × tp; in an engine that serves attention_dp × cp × tp) that expert_tp × `ep` does
not divide; in DeepSpeed, a dp that ep does not divide. Only `experts-wider-than-replica` reports an ep above the ranks
of an engine.

## Why it matters

Expert layers are distributed over the ranks of a stage as expert_tp × ep × expert_dp. Where expert_dp is not an
integer, the framework cannot form the groups.

## What to do

Use another ep, or other degrees. In Megatron, `expert_tp: 1` makes the tensor-parallel ranks available to experts.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 3}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 384}
layout: {ep: 16}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 384}
layout: {ep: 16}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/parallel_state.py#L883
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/distributed/parallel_dims.py#L187
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error")


def check(legality: Legality, layout: Layout) -> Iterator[Problem]:
    if layout.ep == 1 or not legality.breaks(RULE.name) or not legality.has_integer_dp:
        return
    if layout.capabilities.has("requires.experts_within_dp"):
        message = f"{layout.framework} forms expert groups from dp {layout.dp}, which ep {layout.ep} does not divide"
    elif legality.demands.serves:
        ranks = layout.tp * layout.cp * layout.attention_dp
        if layout.ep > ranks:
            return  # `experts-wider-than-replica` says so
        message = f"ep {layout.ep} does not divide the {plural(ranks, 'rank')} of a stage of an engine"
    else:
        ranks = layout.tp * layout.cp * layout.dp
        message = (
            f"expert_tp {layout.expert_tp} × ep {layout.ep} does not divide the {plural(ranks, 'rank')} of a stage"
        )
    axes = ("ep", "expert_tp") if layout.expert_tp > 1 and not legality.demands.serves else ("ep",)
    yield RULE.problem("layout.ep", message, legality.advice(RULE.name, *axes, otherwise="use another ep"))
