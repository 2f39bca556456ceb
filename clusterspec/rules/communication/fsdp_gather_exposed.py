"""Gathering the weights of a layer takes longer than computing it.

## What it finds

Sharding fsdp (or hsdp) over nodes, with more than 5 % of the predicted step in exposed all-gathers of weights and
reduce-scatters of gradients. Silent where `fsdp-across-nodes` proposes hsdp.

## Why it matters

fsdp gathers every layer again for each micro-batch. The all-gather overlaps only with enough computation: on H100 about 8,900 tokens
per micro-batch and accelerator at 50 GB/s, about 1,200 at 400 GB/s.

## What to do

Use a larger micro-batch or longer sequences, hsdp, or more NICs.

## When to ignore it

Where memory allows nothing else.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {nics_per_node: 1}
workload: {model: llama-3.1-70b, sequence_length: 2048, global_batch: 64}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 2}
```

## Sources

- ZeRO-3 between nodes: https://github.com/deepspeedai/DeepSpeed/issues/2928
- Tokens that overlap an all-gather: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/model-parallelism/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.sharding import hsdp_instead
from clusterspec.rules.advice.what_if import severity_of
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.shares import SHARD_AXES, computing, exposed, sent, share
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, say

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.05


def check(facts: Facts, training: Workload, layout: Layout) -> Iterator[Problem]:
    if layout.sharding not in {"fsdp", "hsdp"} or facts.forbids_overlap("dp"):
        return
    placement, plan = facts.placement("shard"), facts.timed
    if placement is None or placement.nodes < 2 or plan is None or plan.step is None:
        return
    seconds = exposed(plan, SHARD_AXES)
    lost = share(seconds, plan)
    if lost <= facts.threshold(RULE.name, MOST) or hsdp_instead(facts) is not None:
        return
    tokens = layout.micro_batch * training.sequence_length // layout.cp
    wanted = int(tokens * sent(plan, SHARD_AXES) / computing(plan)) if computing(plan) else tokens
    more = f"; about {wanted:,} tokens would overlap it" if wanted > tokens else ""
    yield RULE.problem(
        "layout.sharding",
        f"all-gathers over {placement.nodes:,} nodes expose {say(seconds, 's')}, {percent(lost, 2)} of the step: a micro-batch of "
        f"{tokens:,} tokens computes too little to overlap them{more}",
        "use a larger micro-batch, hsdp inside the domain, or more NICs",
        severity=severity_of(lost),
    )
