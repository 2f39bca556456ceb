"""The expected model FLOPs utilization is higher than almost every training run reaches.

## What it finds

An `expected_mfu` above 0.60, up to 1.

## Why it matters

Published runs on GPUs reach 0.35 to 0.50 in bf16 (Llama 3 405B: 0.38 to 0.43 on 16,384 H100), mixtures of experts
less. A schedule planned at 0.70 slips by half before the first hardware failure.

## What to do

Plan on 0.40, or cite the measurement on this hardware and model size.

## When to ignore it

Where it was measured on the same machine. TPUs with MaxText come to 0.60 to 0.71 on dense models of 30B and more,
and small models on a few A100 to 0.62.

## Fires

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.7}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.55}
```

## Sources

- Llama 3, table 4: https://arxiv.org/abs/2407.21783
- MaxText's published runs: https://github.com/AI-Hypercomputer/maxtext
- Claims of 71 to 89 % looked at closely: https://docs.alayanew.com/en/docs/tech-blog/2026-03-kilo-gpu-topology
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "heuristic")
HIGHEST_CREDIBLE = 0.60
"""Of the published GPU runs in bf16 that we know, three of more than two hundred lie above, at most at 0.63."""


def check(written_workload: WorkloadSpec) -> Iterator[Problem]:
    mfu = written_workload.expected_mfu
    if mfu is not None and HIGHEST_CREDIBLE < mfu <= 1:
        message = f"an MFU of {percent(mfu)} is more than nearly every published run reaches; large ones lie between 35 and 50 %"
        yield RULE.problem("workload.expected_mfu", message, "plan on 0.40, or cite the measurement in a comment")
