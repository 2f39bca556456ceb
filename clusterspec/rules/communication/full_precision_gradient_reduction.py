"""Gradients are reduced in fp32.

## What it finds

`gradient_precision: fp32` with bf16 or fp8 compute, where exposed gradient reduction is more than 5 % of the predicted
step.

The finding is a note: `dp-reduction-exposed` and `fsdp-gather-exposed` report the cost of the exposed reduction.

## Why it matters

fp32 doubles the bytes of bf16. Many runs reduce in bf16 and accumulate in fp32 without loss of accuracy; others need
fp32.

## What to do

Use bf16 with fp32 accumulation on each rank, if convergence allows.

## When to ignore it

Ignore it for models that no published run has trained with reduction in bf16.

## Options

`thresholds = {full-precision-gradient-reduction = 0.05}` in the configuration sets the share above which the rule
reports. The number is a share of the predicted step time. The default is 0.05.

## Fires

```yaml workload.gradient_precision
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {nics_per_node: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, gradient_precision: fp32}
layout: {tp: 1, sharding: zero1, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {nics_per_node: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, gradient_precision: bf16}
layout: {tp: 1, sharding: zero1, recompute: full}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L246
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import (
    REDUCTIONS,
    REPLICA_AXES,
    SHARD_AXES,
    exposed_seconds,
    loses_terms_in_bf16,
    share_of_step,
)
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "likely")
MOST = 0.05


def check(thresholds: Thresholds, training: Workload, layout: Layout, timed: Plan) -> Iterator[Problem]:
    if training.gradient_precision != "fp32" or training.precision not in {"bf16", "fp8", "fp4"} or layout.dp == 1:
        return
    cost = share_of_step(exposed_seconds(timed, (*REPLICA_AXES, *SHARD_AXES), REDUCTIONS), timed)
    if cost > thresholds.of(RULE.name, MOST):
        message = f"gradients in fp32 have twice the bytes of bf16, and their reduction exposes {percent(cost, 2)} of the step"
        help_ = "use `gradient_precision: bf16` with fp32 accumulation, if convergence allows"
        if loses_terms_in_bf16(layout):
            help_ = "reduce less often (a larger batch, or fewer replicas): a bf16 sum of this many terms loses most of them"
        yield RULE.problem("workload.gradient_precision", message, help_)
