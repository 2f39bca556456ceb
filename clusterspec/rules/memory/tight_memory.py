"""The plan leaves less than a tenth of the memory free.

## What it finds

A predicted total between 90 and 100 % of the fullest accelerator's memory: a note. It is a warning above 97.5 % where
weights, gradients and optimizer states, whose sizes are known exactly, take three quarters of the memory. The rule is
silent for serving engines (`workload.serving`), which fill free memory with cache.

## Why it matters

Fragmentation, a longer sequence in a batch, or a newer library can take another 2 to 6 GB. The run then fails hours
after its start.

## What to do

Keep a tenth free, by more recomputation or more sharding.

## When to ignore it

Ignore it where the total was measured, including memory that the allocator reserves.

## Options

`thresholds = {tight-memory = 0.90}` in the configuration sets the share above which the rule reports. The number is a
share of the memory of the fullest accelerator. The default is 0.90.

## Fires

```yaml layout
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 7680, global_batch: 64}
layout: {tp: 2, sharding: zero1, micro_batch: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 7680, global_batch: 64}
layout: {tp: 2, sharding: zero1, micro_batch: 1}
```

## Sources

- Headroom on TPUs: https://docs.cloud.google.com/tpu/docs/v5p
- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.90
NEARLY = 0.975
"""Smallest share of the memory at which the finding may be a warning: of 349 published runs (docs/accuracy.md), 11 are predicted above
0.95 and three above this.
"""
STATES = 0.75
"""Share of the memory that states must take for a warning: they are predicted exactly, activations only to within a
tenth or two.
"""


def check(plan: Plan, thresholds: Thresholds, workload: Workload) -> Iterator[Problem]:
    total, capacity = plan.memory_bytes, plan.memory_capacity
    if total is None or capacity is None or workload.serving is not None:
        return  # an engine fills the memory that it may fill with cache
    if thresholds.of(RULE.name, MOST) * capacity < total <= capacity:
        free = capacity - total
        severity = "warning" if total > NEARLY * capacity and _state_bytes(plan) >= STATES * capacity else "note"
        message = (
            f"the plan uses {percent(total / capacity)} of the memory of {plan.capacity_text}: {display(total, 'B')}, "
            f"with {display(free, 'B')} free"
        )
        yield RULE.problem(
            "layout", message, "keep a tenth free, by more recomputation or more sharding", severity=severity
        )


def _state_bytes(plan: Plan) -> float:
    """Bytes of weights, gradients and optimizer states."""
    memory = plan.memory
    return memory.weights.value + memory.gradients.value + memory.optimizer.value if memory else 0.0
