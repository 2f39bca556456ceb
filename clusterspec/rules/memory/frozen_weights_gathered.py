"""Full sharding gathers frozen weights that would fit whole.

## What it finds

Low-rank adapters (`trainable` with lora or qlora) with sharding fsdp or hsdp, where the same layout with `sharding:
zero1` uses at most 95 % of the memory and is faster by 2 % or more.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step. It is a note too where whole
weights may not fit at the high end of the range of their memory.

## Why it matters

Frozen weights have no gradients and no optimizer states: a weight takes 2 bytes instead of 16, or half a byte in 4
bits. Full sharding saves little memory then, and still gathers every layer in every pass.

## What to do

Keep the frozen weights whole on each rank: the gradients and states of adapters are small.

## When to ignore it

Ignore it where other runs of the same layout use the memory for longer sequences or larger micro-batches.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, scale_out: {nics_per_node: 1}}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 16}}
layout: {framework: deepspeed, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, scale_out: {nics_per_node: 1}}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 16}}
layout: {framework: deepspeed, sharding: zero1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 16}}
layout: {framework: deepspeed, sharding: fsdp, recompute: full}
```

## Sources

- Memory of adapters: https://arxiv.org/abs/2106.09685
- Memory of fully sharded states: https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, WhatIf
from clusterspec.rules.knowledge.shares import step_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")


def check(training: Workload, layout: Layout, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    if training.trainable is None or layout.sharding not in {"fsdp", "hsdp"} or timed.step_seconds is None:
        return
    fitting = what_if.fitting_alternatives([{"sharding": "zero1", "shard_group": None}])
    saving = what_if.saved_share(fitting[0]) if fitting else None
    if saving is None or saving <= NOTICEABLE or fitting[0].memory_bytes is None:
        return
    yield RULE.problem(
        "layout.sharding",
        f"{layout.sharding} gathers frozen weights in every pass, which costs {percent(saving, 2)} of the step "
        f"({display(timed.step_seconds, 's')}); with whole weights on each rank the plan uses "
        f"{display(fitting[0].memory_bytes, 'B')}, which fits",
        f"write `{fitting[0].words}`: {display(fitting[0].step_seconds, 's')} a step",
        severity=step_severity(saving, timed) if fitting[0].surely_fits else "note",
    )
