"""Gathering the weights of a layer takes longer than its computation.

## What it finds

Sharding fsdp (or hsdp) over nodes, with more than 5 % of the predicted step in exposed all-gathers of weights and
reduce-scatters of gradients. The rule is silent where `fsdp-across-nodes` proposes hsdp.

Severity follows the lost share of the step: a note below a quarter, which programs that shard over nodes lose and for
which hsdp is no remedy, a warning above it, and an error if even the low end of the range loses a quarter of the step.

## Why it matters

fsdp gathers every layer again for each micro-batch. The all-gather overlaps only with enough computation: on H100 about
8,900 tokens per micro-batch and accelerator at 50 GB/s, about 1,200 at 400 GB/s.

## What to do

Use a larger micro-batch or longer sequences, hsdp, or more NICs.

## When to ignore it

Ignore it where memory allows no other sharding.

## Options

`thresholds = {fsdp-gather-exposed = 0.05}` in the configuration sets the share above which the rule reports. The number
is a share of the predicted step time. The default is 0.05.

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
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.shares import (
    A_QUARTER,
    SHARD_AXES,
    computing_seconds,
    exposed_seconds,
    sent_seconds,
    share_of_step,
    step_severity,
)
from clusterspec.rules.parts import Placements, Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("hot-axis-over-oversubscription",))
MOST = 0.05


def check(
    thresholds: Thresholds,
    placements: Placements,
    training: Workload,
    written_layout: LayoutSpec,
    layout: Layout,
    timed: Plan,
    what_if: WhatIf,
) -> Iterator[Problem]:
    if layout.sharding not in {"fsdp", "hsdp"} or written_layout.forbids_overlap("dp"):
        return
    placement = placements.of("shard")
    if placement is None or placement.nodes < 2 or timed.step is None:
        return
    seconds = exposed_seconds(timed, SHARD_AXES)
    lost = share_of_step(seconds, timed)
    if lost <= thresholds.of(RULE.name, MOST) or what_if.hsdp is not None:
        return
    tokens = layout.micro_batch * training.sequence_length // layout.cp
    wanted = (
        int(tokens * sent_seconds(timed, SHARD_AXES) / computing_seconds(timed)) if computing_seconds(timed) else tokens
    )
    more = f"; about {wanted:,} tokens would overlap it" if wanted > tokens else ""
    yield RULE.problem(
        "layout.sharding",
        f"all-gathers over {placement.nodes:,} nodes expose {display(seconds, 's')}, {percent(lost, 2)} of the step: a micro-batch of "
        f"{tokens:,} tokens computes too little to overlap them{more}",
        "use a larger micro-batch, hsdp inside the domain, or more NICs",
        severity="note" if lost < A_QUARTER else step_severity(lost, timed),
    )
