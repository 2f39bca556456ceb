"""Experts and tensor parallelism without sequence parallelism.

## What it finds

Training of a model with experts, `tp` above 1 and `sequence_parallel: false`, in Megatron Core or NeMo: an error. The
finding is a warning where no framework is named.

## Why it matters

Megatron Core does not support it: its expert layer raises `ValueError` in the first training step. Without sequence
parallelism every tensor-parallel rank would dispatch all tokens of the group, so the all-to-all and its buffers would
be tp times as large.

## What to do

Write `sequence_parallel: true`, or leave the key out.

## When to ignore it

Do not ignore it for Megatron Core. Other frameworks may accept the layout; name the framework.

## Fix safety

The fix is unsafe: it writes `sequence_parallel: true`, which changes memory and communication of the layout.

## Fires

```yaml layout.sequence_parallel
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: false}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, ep: 4, expert_tp: 1, sequence_parallel: true}
```

## Sources

- The expert layer raises in training: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/moe/moe_layer.py#L636
- The warning of the configuration: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/model_parallel_config.py#L560
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix

RULE = Rule.of(__name__, "error")


def check(training: Workload, model: Model, layout: Layout) -> Iterator[Problem]:
    held = layout.capabilities
    if not model.experts or layout.tp == 1 or layout.sequence_parallel:
        return
    if not held.has("requires.sequence_parallel_with_experts"):
        return
    at = "layout.sequence_parallel"
    who = layout.framework if held.named else "Megatron Core"
    message = (
        f"{who} does not train experts with tp {layout.tp} and without sequence parallelism: each of the {layout.tp} ranks would "
        "dispatch every token"
    )
    severity = "error" if held.named else "warning"
    yield RULE.problem(at, message, "write `sequence_parallel: true`", severity=severity, fix=value_fix(at, "true"))
