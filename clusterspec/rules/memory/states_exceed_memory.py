"""Weights, gradients and optimizer states alone exceed the memory.

## What it finds

A predicted sum of weights, gradients and optimizer states above the memory of the fullest accelerator. The finding is
an error, and a warning where the lower end of the predicted range fits, because the framework frees some states before
it allocates others.

## Why it matters

The first step runs out of memory for any batch. With Adam in mixed precision a parameter takes 18 bytes unsharded:
70.6B parameters take 1.27 TB, the memory of sixteen H100 without any activations.

## What to do

Use more sharding (zero1, fsdp), more tp or pp, more nodes, or optimizer states on the host. The help lists layouts that
use at most 95 % of the memory, with their memory and step time.

## When to ignore it

Do not ignore it. If the framework stores less than the spec states, state `optimizer_states`, `gradient_precision` or
`offload`.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, sharding: none}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, sharding: zero1, pp: 2}
```

## Sources

- ZeRO: https://arxiv.org/abs/1910.02054
- Megatron-LM's own estimate: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/theoretical_memory_usage.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.remedies import advice_for_states, may_fit, with_narrower_weights
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
PREFILL = "workload.serving.disaggregated.prefill"


def check(workload: Workload, cluster: Cluster, layout: Layout, plan: Plan, what_if: WhatIf) -> Iterator[Problem]:
    memory = None if plan.fits is not False else plan.memory
    if memory is None or memory.capacity is None:
        return
    states = memory.weights.value + memory.gradients.value + memory.optimizer.value
    capacity = memory.capacity.value
    if states <= capacity:
        return
    named = (("weights", memory.weights), ("gradients", memory.gradients), ("optimizer states", memory.optimizer))
    parts = ", ".join(f"{display(part.value, 'B')} of {name}" for name, part in named if part.value)
    training, prefill = workload.kind == "train", plan.fullest_is_prefill
    engines = " of the prefill engines" if prefill else ""
    yield RULE.problem(
        "layout.sharding" if training else PREFILL if prefill else "layout.tp",
        f"{display(states, 'B')} of model states on the fullest accelerator{engines} ({parts}) exceed its memory of {plan.capacity_text}",
        advice_for_states(what_if, cluster, layout)
        if training
        else f"{with_narrower_weights(plan)}, or raise tp or pp",
        severity="warning" if may_fit(plan) else "error",
    )
