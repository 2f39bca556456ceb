"""The expected model FLOPs utilization is not a fraction between 0 and 1.

## What it finds

An `expected_mfu` above 1, or of 0 or less. A percentage typed as a number (`40`) is the usual cause.

## Why it matters

MFU is the model's FLOPs over the dense peak, so it cannot exceed 1. With 40 instead of 0.40, a run of three months is
planned as one day.

## What to do

Write the fraction: `0.40`.

## When to ignore it

Do not ignore it. A published figure above 1 was divided by the wrong peak.

## Fix safety

The fix is safe: it divides a percentage by 100. The rule offers it only for values above 1 that can be percentages.

## Fires

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 40}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.40}
```

## Sources

- MFU defined: https://arxiv.org/abs/2204.02311
- A published figure above 100 %: https://github.com/NVIDIA/Megatron-LM/issues/1565
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import plain

RULE = Rule.of(__name__, "error")


def check(written_workload: WorkloadSpec) -> Iterator[Problem]:
    at, mfu = "workload.expected_mfu", written_workload.expected_mfu
    if mfu is None or 0 < mfu <= 1:
        return
    percentage = 1 < mfu <= 100
    fix = value_fix(at, plain(mfu / 100), safe=True) if percentage else None
    reading = f"; {plain(mfu)} % is {plain(mfu / 100)}" if percentage else ""
    yield RULE.problem(
        at, f"MFU is a fraction of the peak between 0 and 1, not {mfu:g}{reading}", "write 0.40 for 40 %", fix=fix
    )
