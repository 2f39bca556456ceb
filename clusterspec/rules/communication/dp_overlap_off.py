"""Gradient reduction is not overlapped with the backward pass.

## What it finds

`overlap: {dp: false}` with data-parallel groups that leave their node.

The finding is a note where the exposed reduction takes less than 5 % of the step, a warning above it, and an error if
at least a quarter of the step is lost even at the low end of the prediction's range. The width of that range does not
lower a warning to a note, since overlap costs no time. It is a warning where the time is not known.

## Why it matters

The gradients of a layer are ready long before the step ends. A reduction that starts immediately overlaps with the
backward pass of the remaining layers; one that starts at the end is fully exposed. 7B parameters in fp32 are 28 GB,
more than a second over one 400 Gb/s NIC.

## What to do

Write `overlap: {dp: true}`; in Megatron set `--overlap-grad-reduce`.

## When to ignore it

Ignore it to reproduce a measurement without overlap.

## Fix safety

The fix is unsafe: it writes `overlap: {dp: true}`. The framework must be started accordingly.

## Fires

```yaml layout.overlap.dp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2, overlap: {dp: false}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2, overlap: {dp: false}}
```

## Sources

- Overlap in practice: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
- Times by network: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1394
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import REPLICA_AXES, SHARD_AXES, exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning")
LITTLE = 0.05
"""Share of the step below which exposed reduction is only a note."""


def check(
    placements: Placements, training: Workload, written_layout: LayoutSpec, layout: Layout, timed: Plan | None
) -> Iterator[Problem]:
    if layout.dp == 1 or not written_layout.forbids_overlap("dp"):
        return
    placement = placements.of("dp")
    if placement is None or placement.nodes < 2:
        return
    seconds = exposed_seconds(timed, {*REPLICA_AXES, *SHARD_AXES}) if timed else 0.0
    cost = (
        f": {display(seconds, 's')}, {percent(share_of_step(seconds, timed), 2)} of the step"
        if timed and seconds
        else ""
    )
    at = "layout.overlap.dp"
    message = f"the gradient reduction of dp {layout.dp} over {placement.nodes:,} nodes is not overlapped{cost}"
    help_ = "write `overlap: {dp: true}`: reduce each bucket as soon as it is ready"
    lost = share_of_step(seconds, timed) if timed and timed.step else None
    severity = step_severity(lost, timed, "warning")
    if severity == "note" and lost is not None and lost >= LITTLE:
        severity = "warning"
    yield RULE.problem(at, message, help_, severity=severity, fix=value_fix(at, "true"))
