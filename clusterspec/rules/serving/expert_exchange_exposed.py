"""Dispatch and combine of experts take more than half of a decode step.

## What it finds

A serving plan with experts over several attention ranks, where the all-to-alls of experts are more than half of the
predicted decode step and `overlap.ep` is not true. The finding is a warning where overlap would save more of the step
than the half-width of the range of that difference, and stated targets are missed or none are stated; else a note.

## Why it matters

Two all-to-alls per layer are on the critical path of every token. Between nodes each has a latency of tens of
microseconds; over 60 layers that is milliseconds, whatever the bandwidth.

## What to do

Keep ep inside the scale-up domain, alternate two micro-batches so that one communicates while the other computes
(`overlap: {ep: true}`), or increase the requests in flight on each rank.

## When to ignore it

Do not ignore it. If the engine overlaps two micro-batches, state `overlap: {ep: true}`.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 8, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 8192}}
layout: {tp: 1, attention_dp: 64, ep: 64}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 16}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 8192}}
layout: {tp: 1, attention_dp: 64, ep: 64}
```

## Sources

- Two micro-batches in turn, and the cost of all-to-all: https://arxiv.org/abs/2412.19437
- Latency of dispatch and combine: https://github.com/deepseek-ai/DeepEP
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.cost.serving.targets import meets_targets
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import DECODE, Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.5
PART = "expert_exchange"


def check(served: Served) -> Iterator[Problem]:
    step = served.times.decode
    seconds = sum(part.seconds for part in step.parts if part.name == PART)
    if served.layout.overlap.ep or seconds <= MOST * step.total:
        return
    met = served.load.targets and meets_targets(served.times, served.load)
    severity = cost_severity(1 - seconds / step.total, loss_factors(served.times), most="warning")
    yield RULE.problem(
        DECODE if served.layout.separate_engines else "layout.ep",
        f"dispatch and combine take {display(seconds, 's')} of a decode step of {display(step.total, 's')} ({percent(seconds / step.total, 2)}), "
        f"and nothing overlaps them",
        "keep ep inside the scale-up domain, or overlap two micro-batches (`overlap: {ep: true}`)",
        severity="note" if met else severity,
    )
