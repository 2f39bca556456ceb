"""The expected model FLOPs utilization is a fraction of the predicted one.

## What it finds

An `expected_mfu` below a quarter of the low end of the predicted range of this plan.

## Why it matters

The length of the run, the rent and the size of the machine follow from it. An MFU of 0.04 for 0.4 buys ten times the
machine. If the figure was measured, the machine has a fault that is worth more than the plan.

## What to do

Write a share: 40 % is 0.4. Or cite the measurement, and find the cause of the lost time.

## When to ignore it

Ignore it where the MFU was measured on the same machine and the cause is known.

## Fires

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.04}
layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.2}
layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

## Sources

- Llama 3, table 4: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "likely")
FRACTION = 0.25
"""Share of the predicted range's low end below which a mistake is more likely than a slow machine."""


def check(written_workload: WorkloadSpec, timed: Plan | None) -> Iterator[Problem]:
    mfu = written_workload.expected_mfu
    if mfu is None or timed is None or timed.mfu_range is None:
        return
    lowest = timed.mfu_range[0]
    if mfu < FRACTION * lowest:
        message = f"the expected MFU of {percent(mfu, 2)} is {percent(mfu / lowest, 2)} of the {percent(lowest, 2)} at the low end of the predicted range"
        yield RULE.problem("workload.expected_mfu", message, "write a share (40 % is 0.4), or cite the measurement")
