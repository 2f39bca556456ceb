"""Weights are sharded over several domains although one domain could hold them.

## What it finds

`sharding: fsdp` over more than one scale-up domain, where `hsdp` with shard groups of one domain is legal, fits, and is
predicted to be at least 2 % faster. The finding is a note where the loss is up to two fifths of the step, as in
published runs with little work for each rank. Above that it is an error if even the low end of the range loses a
quarter of the step, else a warning.

## Why it matters

fsdp gathers every weight over the NICs, twice for each micro-batch. hsdp gathers inside the domain and sends only
gradients across domains: in one measurement, 74.4 instead of 55.3 samples/s on four nodes. With eight rails of 400 Gb/s
and large micro-batches the difference is small, and the rule is silent.

## What to do

Use `sharding: hsdp`, at the cost of the memory that the message gives.

## When to ignore it

Ignore it where the memory is needed for a larger micro-batch.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {nics_per_node: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 128}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 1}
```

## Sources

- 74.4 against 55.3: https://github.com/oumi-ai/oumi/pull/213
- More cases: https://github.com/deepspeedai/DeepSpeed/issues/6889 https://github.com/allenai/OLMo/issues/845
- hsdp in PyTorch: https://github.com/pytorch/pytorch/issues/117470
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, ScaleUp, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
DOMINANT = 0.4
"""Smallest share of the step that other sharding saves at which full sharding is a flaw.

OLMo 7B on 256 nodes of LUMI (arXiv 2402.00838, section 3), with 2,048 tokens per rank and step, is predicted to lose
0.34, and 14 other published runs lose at most 0.16.
"""


def check(
    placements: Placements,
    scale_up: ScaleUp,
    training: Workload,
    layout: Layout,
    plan: Plan | None,
    what_if: WhatIf,
) -> Iterator[Problem]:
    if layout.sharding != "fsdp" or scale_up.topology == "torus":
        return
    better, placement = what_if.hsdp, placements.of("shard")
    if better is None or placement is None:
        return
    held = (
        f"; the present layout takes {display(plan.memory_bytes, 'B')} per rank"
        if plan and plan.memory_bytes is not None
        else ""
    )
    saving = what_if.saved_share(better) or 0.0
    yield RULE.problem(
        "layout.sharding",
        f"fsdp gathers weights over {placement.domains:,} domains, although one domain holds them: {what_if.comparison_text(better)}{held}",
        f"write `{better.words}`",
        severity="note" if saving < DOMINANT else what_if.severity(saving),
    )
