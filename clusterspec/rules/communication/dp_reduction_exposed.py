"""Gradient reduction takes longer than the backward pass that it overlaps with.

## What it finds

More than 5 % of the predicted step in exposed gradient reduction. The rule is silent where `overlap.dp` is off (see
`dp-overlap-off`) and with fsdp (see `fsdp-gather-exposed`).

Below two fifths of the step, severity follows the time that gradients in bf16 would save, since the batch allows no
more accumulation: a note where it is below the half-width of the range of that difference, and a warning above it. From
two fifths on, severity follows the exposed share itself: an error if even the low end of the range loses a quarter of
the step. Published runs of small models on many accelerators expose up to a quarter.

## Why it matters

The reduction overlaps only with the backward pass of the last micro-batch; the rest is exposed in every step.

## What to do

Use gradients in bf16, more accumulation (a larger batch, or fewer replicas), hsdp, or compressed gradients
(`gradient_compression`). The help gives the predicted step with bf16 and with a compression of 4.

## When to ignore it

Ignore it where a profile of the measured step shows no exposed reduction.

## Options

`thresholds = {dp-reduction-exposed = 0.05}` in the configuration sets the share above which the rule reports. The
number is a share of the predicted step time. The default is 0.05.

## Fires

```yaml layout.dp
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {nics_per_node: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 1, dp: 64, sharding: zero1, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 2048}
layout: {tp: 1, dp: 64, sharding: zero1, recompute: full}
```

## Sources

- Overlap with the backward pass, by network: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1394
- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
- Compressed gradients: https://arxiv.org/abs/1905.13727
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, WhatIf
from clusterspec.rules.knowledge.shares import (
    REPLICA_AXES,
    exposed_seconds,
    loses_terms_in_bf16,
    share_of_step,
    step_severity,
)
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.05
COMPRESSION = 4
DOMINANT = 0.4
"""From this share of the step on, the reduction dominates the step, and severity follows the share itself."""


def check(
    thresholds: Thresholds, training: Workload, written_layout: LayoutSpec, layout: Layout, timed: Plan, what_if: WhatIf
) -> Iterator[Problem]:
    if layout.dp * layout.cp == 1 or written_layout.forbids_overlap("dp") or layout.sharding in {"fsdp", "hsdp"}:
        return
    if timed.step is None:
        return
    seconds = exposed_seconds(timed, REPLICA_AXES)
    lost = share_of_step(seconds, timed)
    if lost <= thresholds.of(RULE.name, MOST):
        return
    yield RULE.problem(
        "layout.dp",
        f"{display(seconds, 's')} of {_reduction_text(layout)}, {percent(lost, 2)} of the step, is exposed "
        f"({plural(layout.micro_batches or 0, 'micro-batch')} per step)",
        _help(what_if, training, layout),
        severity=_severity(lost, what_if, training, timed),
    )


def _severity(lost: float, what_if: WhatIf, training: Workload, timed: Plan) -> str:
    """The severity: by the exposed share from `DOMINANT` on, below it by the share that bf16 gradients would save."""
    if lost >= DOMINANT:
        return step_severity(lost, timed)
    narrow = what_if.with_workload(gradient_precision="bf16") if training.gradient_precision == "fp32" else None
    now = what_if.step_time
    saved = 1 - narrow.step_seconds / now if narrow and narrow.step_seconds and now else 0.0
    return step_severity(saved, timed)


def _reduction_text(layout: Layout) -> str:
    return "reducing gradients" + ("" if layout.sharding == "none" else " and gathering weights")


def _help(what_if: WhatIf, training: Workload, layout: Layout) -> str:
    """The remedies; bf16 gradients and compression with their predicted step times. bf16 is offered only where sums in
    bf16 keep small terms.
    """
    if not what_if.advises:
        return ""
    now, narrow = what_if.step_time, ""
    if training.gradient_precision == "fp32" and not loses_terms_in_bf16(layout):
        plan = what_if.with_workload(gradient_precision="bf16")
        narrow = _lever_text("gradient_precision: bf16", now, plan)
    compressed = what_if.with_layout(gradient_compression=COMPRESSION)
    packed = _lever_text(f"gradient_compression: {COMPRESSION}", now, compressed)
    accumulated = "use more accumulation (a larger batch, or fewer replicas)"
    return "; or ".join(lever for lever in (narrow, accumulated, packed) if lever)


def _lever_text(written: str, now: float | None, plan: Plan | None) -> str:
    """A changed key with its predicted step time; without the time where it is unknown, and empty where the saving is
    not noticeable.
    """
    if plan is None or plan.step_seconds is None or not now:
        return f"`{written}`"
    saved = 1 - plan.step_seconds / now
    figures = f"{display(plan.step_seconds, 's')} per step, {percent(saved, 2)} less"
    return f"`{written}` ({figures})" if saved > NOTICEABLE else ""
