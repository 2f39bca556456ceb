"""The order places replicas of hsdp inside the domain and its shards across domains.

## What it finds

`sharding: hsdp` with `dp_replicate` before `dp_shard` in the order of ranks, where shard groups then leave the domain
and replicas do not. The severity follows the share of the step that the exchanged order would save: a note below the
half-width of the range of that difference, a warning above it, and an error if at least a quarter of the step is lost even at
the low end of the range, or where no time is known.

## Why it matters

Shards are gathered twice for each micro-batch, replicas are reduced once per step. In this order the larger traffic
runs over NICs, and the smaller over the scale-up interconnect.

## What to do

Put `dp_shard` before `dp_replicate`.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes another `order`. The new order places other ranks together, and the launcher must use the
same one.

## Fires

```yaml layout.order
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {tp: 1, sharding: hsdp, shard_group: 8, order: [tp, cp, ep, dp_replicate, dp_shard, pp]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {tp: 1, sharding: hsdp, shard_group: 8, order: [tp, cp, ep, dp_shard, dp_replicate, pp]}
```

## Sources

- An inverted mesh: https://github.com/meta-pytorch/torchtune/issues/2402
- The usual mesh: https://github.com/axolotl-ai-cloud/axolotl/blob/067b021c8b87a9e5e380b9173c704cf7340e30f5/docs/nd_parallelism.qmd#L113
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, WhatIf
from clusterspec.rules.knowledge.domains import straddling_groups
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.rules.words import as_yaml
from clusterspec.units import percent

RULE = Rule.of(__name__, "error")


def check(placements: Placements, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    order = layout.order
    if layout.sharding != "hsdp" or not {"dp_shard", "dp_replicate"} <= set(order):
        return
    shards = placements.of("shard")
    if order.index("dp_shard") < order.index("dp_replicate") or shards is None or shards.straddling == 0:
        return
    swap = {"dp_shard": "dp_replicate", "dp_replicate": "dp_shard"}
    turned = as_yaml([swap.get(axis, axis) for axis in order])
    message = f"replicas vary faster than shards, so {straddling_groups(shards)}, and shards are gathered twice for each micro-batch"
    right = what_if.with_layout(order=tuple(swap.get(axis, axis) for axis in order), dp=layout.dp)
    now = what_if.step_time
    lost = 1 - right.step_seconds / now if right is not None and right.step_seconds and now else None
    yield RULE.problem(
        "layout.order",
        message + (f": {percent(lost, 2)} of the step" if lost else ""),
        f"write `order: {turned}`",
        severity=what_if.severity(lost) if lost is None or lost >= NOTICEABLE else "note",
        fix=value_fix("layout.order", turned),
    )
