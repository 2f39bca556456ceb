"""The expected model FLOPs utilization exceeds published and predicted values.

## What it finds

An `expected_mfu` above 0.60, on TPUs above 0.715, up to 1, which also exceeds the predicted MFU, unless the spec states
a measured step time of the job; or one that exceeds the upper end of the predicted range of this plan by more than a
quarter. Where the spec states neither `schedule` nor `virtual_stages`, the range includes the fastest interleaved
schedule that the framework allows. An MFU that the plan itself is predicted to reach is not reported here:
`mfu-beyond-published` compares the prediction with published runs.

## Why it matters

Published runs on GPUs reach 0.35 to 0.50 in bf16 (Llama 3 405B: 0.38 to 0.43 on 16,384 H100), mixtures of experts less.
On TPUs, MaxText reaches 0.60 to 0.715 on dense models. These runs recompute activations: they execute 0.76 to 0.90 of the
peak of TPU v5p, so that a plan that recomputes nothing may exceed their MFU.
A schedule planned at an MFU of 0.70 takes half as long again, even without hardware failures. A run planned at three
times the predicted MFU takes three times as long.

## What to do

Plan with the predicted MFU; or cite a measurement on this hardware and model size.

## When to ignore it

Ignore it where the MFU was measured on the same machine. Small models on a few A100 reach 0.62.

## Fires

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.7}
```

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, scale_out: {nics_per_node: 1}}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, expected_mfu: 0.45}
layout: {tp: 1, sharding: zero1, recompute: full}
```

```yaml workload.expected_mfu
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 32, expected_mfu: 0.5}
layout: {framework: megatron-core, tp: 8, pp: 8, schedule: 1f1b}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.55}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 32, expected_mfu: 0.5}
layout: {framework: megatron-core, tp: 8, pp: 8}
```

```yaml
clusterspec: 1
cluster: {accelerator: a100-sxm-80gb, nodes: 8}
workload: {model: llama-2-13b, sequence_length: 4096, global_batch: 128, expected_mfu: 0.61}
layout: {sharding: fsdp, micro_batch: 2}
measured: [{step_time: 3.79 s}]
```

```yaml
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, expected_mfu: 0.73}
layout: {framework: maxtext, tp: 2, sharding: fsdp, micro_batch: 1}
```

## Sources

- Llama 3, table 4: https://arxiv.org/abs/2407.21783
- MaxText's published runs: https://github.com/AI-Hypercomputer/maxtext
- Claims of 71 to 89 %, examined: https://docs.alayanew.com/en/docs/tech-blog/2026-03-kilo-gpu-topology
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import highest_mfu, measured_step
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec, WorkloadSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "heuristic")
HIGHEST_CREDIBLE = 0.60
"""Highest credible MFU: three of more than two hundred published GPU runs in bf16 exceed it, and reach at most 0.63."""
ABOVE_RANGE = 1.25
"""Smallest ratio to the upper end of the predicted MFU at which the plan contradicts its own expectation."""


def check(
    written_workload: WorkloadSpec, written_layout: LayoutSpec | None, timed: Plan | None, what_if: WhatIf
) -> Iterator[Problem]:
    mfu = written_workload.expected_mfu
    if mfu is None or not 0 < mfu <= 1:
        return
    at, highest = "workload.expected_mfu", _highest_predicted_mfu(mfu, written_layout, timed, what_if)
    if highest is not None and mfu > ABOVE_RANGE * highest:
        message = f"the expected MFU of {percent(mfu)} exceeds the {percent(highest, 2)} at the upper end of the predicted range"
        yield RULE.problem(at, message, "plan with the predicted MFU (`clusterspec estimate`), or cite a measurement")
    elif timed is None or not measured_step(timed.design):
        yield from _unpublished_mfu_problem(mfu, timed, what_if.design)


def _unpublished_mfu_problem(mfu: float, timed: Plan | None, design: Design) -> Iterator[Problem]:
    """The problem of an MFU above both the published and the predicted ones."""
    predicted = timed.mfu if timed is not None and timed.fits is not False else None
    systolic = design.cluster is not None and design.cluster.accelerator.array is not None
    published = max(HIGHEST_CREDIBLE, (highest_mfu(design) or 0.0) if systolic else 0.0)
    if mfu <= max(published, predicted or 0.0):
        return
    runs, otherwise = "nearly every published run; large ones reach 35 to 50 %", "0.40"
    if systolic:
        runs, otherwise = f"every published run on such accelerators; the best reached {percent(published)}", "0.50"
    plan = f"the predicted {percent(predicted)}" if predicted else otherwise
    message = f"the expected MFU of {percent(mfu)} exceeds {runs}"
    yield RULE.problem("workload.expected_mfu", message, f"plan with {plan}, or cite the measurement in a comment")


def _highest_predicted_mfu(mfu: float, written: LayoutSpec | None, timed: Plan | None, what_if: WhatIf) -> float | None:
    """The upper end of the predicted MFU; None without a prediction.

    If the spec states neither virtual stages nor a schedule and ``mfu`` exceeds the range, the MFU with the fastest
    interleaving counts too, since the run may use it.
    """
    if timed is None or timed.mfu_range is None:
        return None
    highest = timed.mfu_range[1]
    stated = written is None or written.virtual_stages is not None or written.schedule is not None
    if stated or mfu <= ABOVE_RANGE * highest or what_if.interleaved is None:
        return highest
    interleaved = what_if.interleaved.plan.mfu_range
    return max(highest, interleaved[1]) if interleaved is not None else highest
