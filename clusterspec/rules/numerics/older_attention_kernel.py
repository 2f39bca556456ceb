"""The attention kernel is FlashAttention-2 on an accelerator for which a faster one exists.

## What it finds

`attention: flash-2` in training on NVIDIA's Hopper and Blackwell, where the kernels of the accelerator's own generation
shorten the predicted step by at least 5 %. The severity follows from the loss: a note, or a warning at most.

## Why it matters

FlashAttention-2 uses the matrix instructions of A100 on every newer GPU: on an H100 it reaches about 35 % of the peak,
FlashAttention-3 up to 75 %. The longer the sequence, the larger the share of attention in the step.

## What to do

Use kernels of the generation: FlashAttention-3 or the attention of cuDNN on Hopper, cuDNN or FlashAttention-4 on
Blackwell. Transformer Engine and `torch.nn.attention` select those of cuDNN. Write `attention: flash` then.

## When to ignore it

Ignore it where the model needs a mask or a head size that the newer kernels do not have, or in parts of the Blackwell
family without their instructions.

## Fires

```yaml workload.attention
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 32768, global_batch: 64, attention: flash-2}
layout: {framework: torchtitan, dp: 64, sharding: fsdp, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 32768, global_batch: 64, attention: flash-2}
layout: {framework: torchtitan, dp: 64, sharding: fsdp, recompute: full}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 2048, global_batch: 512, attention: flash-2}
layout: {framework: megatron-core, tp: 8, dp: 8, sharding: zero1, recompute: selective}
```

## Sources

- Shares of the peak on H100: Shah et al., https://arxiv.org/abs/2407.08608
- FlashAttention-3 for Hopper: https://github.com/Dao-AILab/flash-attention
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
NEWER = ("sm_90", "sm_100", "sm_103")
"""Architectures whose matrix instructions FlashAttention-2 does not use."""
LEAST = 0.05
"""Smallest share of the step that newer kernels must save."""


def check(training: Workload, accelerator: Accelerator, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    if training.attention == "flash-2" and accelerator.architecture in NEWER and timed.step_seconds is not None:
        yield from _slower_kernel_problem(accelerator, timed.step_seconds, what_if)


def _slower_kernel_problem(accelerator: Accelerator, now: float, what_if: WhatIf) -> Iterator[Problem]:
    """The problem of a step of ``now`` seconds that newer kernels shorten noticeably."""
    plan = what_if.with_workload(attention="flash")
    newer = plan.step_seconds if plan is not None else None
    if newer is None or newer > (1 - LEAST) * now:
        return
    saved = 1 - newer / now
    message = (
        f"FlashAttention-2 uses the matrix instructions of A100 on {accelerator.id}: predicted {display(now, 's')} per step, "
        f"{display(newer, 's')} with kernels of its own generation ({percent(saved)} less)"
    )
    help_ = "use FlashAttention-3 or the attention of cuDNN, and write `attention: flash`"
    yield RULE.problem("workload.attention", message, help_, severity=what_if.severity(saved, most="warning"))
