"""Fewer virtual stages would make the step shorter.

## What it finds

In training, `virtual_stages` above one where one or two virtual stages at the same pp fit and are predicted to make the
step at least 5 % shorter. Severity follows the lost share of the step: a note below the half-width of the range of that
difference, a warning above it, and an error if even the low end of the range loses a quarter of the step.

## Why it matters

Each further virtual stage divides the bubble, and multiplies the activations sent between stages: with v virtual stages
every micro-batch crosses every boundary v times. With many micro-batches the bubble is small already, and on slow
links, or without overlap, the messages cost more than the bubble.

## What to do

Use the number in the message, or overlap the transfers (`overlap.pp`).

## When to ignore it

Ignore it where a measurement shows that the transfers are hidden.

## Fires

```yaml layout.virtual_stages
clusterspec: 1
cluster:
  accelerator: a100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s, flow_control: {pfc: true, ecn: true}}
workload: {model: llama-2-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 8, virtual_stages: 10, recompute: none, overlap: {pp: false}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {framework: megatron-core, tp: 8, pp: 4, virtual_stages: 5, dp: 2, overlap: {pp: true}}
```

## Sources

- The bubble and the communication of interleaved stages, section 2.2: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "likely", yields_to=("degrees-beyond-need",))
LEAST = 0.05
"""Smallest share of the step that fewer virtual stages must save."""


def check(training: Workload, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    if layout.virtual_stages == 1 or layout.pp == 1 or layout.schedule != "interleaved":
        return
    fewer = [number for number in (2, 1) if number < layout.virtual_stages and layout.virtual_stages % number == 0]
    schedules = {1: "1f1b", 2: "interleaved"}
    changes = [{"virtual_stages": each, "schedule": schedules[each], "stage_layers": None} for each in fewer]
    found = what_if.faster_alternatives(changes, LEAST)
    saving = what_if.saved_share(found[0]) if found else None
    if saving is None or saving < LEAST:
        return
    yield RULE.problem(
        "layout.virtual_stages",
        f"{layout.virtual_stages} virtual stages send each micro-batch {layout.virtual_stages} times between stages, "
        f"which costs more than the bubble that they save: {what_if.comparison_text(found[0])}",
        f"write `{found[0].words}`",
        severity=what_if.severity(saving),
    )
