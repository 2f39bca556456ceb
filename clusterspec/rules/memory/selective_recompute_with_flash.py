"""Selective recomputation costs time and saves hardly any memory.

## What it finds

`recompute: selective` with which the cost model predicts at most 2 % less memory than without recomputation, and a step
that is at least 2 % longer. This is the case with flash attention in releases of Megatron Core whose selective
recomputation runs the attention core again.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step.

## Why it matters

This selective recomputation discards the attention scores, and flash attention never stores them. The time is spent and
the memory is not saved. Releases that run norms and activation functions again, and other frameworks, save a third or
more; the cost model has an entry for what each release runs again.

## What to do

Use `none`, or `full` where memory is short. The message states memory and time of both.

## When to ignore it

Ignore it where the run discards other modules than the framework does by default.

## Fires

```yaml layout.recompute
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, attention: flash}
layout: {framework: megatron-core, software_year: 2025, tp: 4, recompute: selective}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, attention: flash}
layout: {framework: megatron-core, software_year: 2026, tp: 4, recompute: selective}
```

## Sources

- Users who looked for the saving: https://github.com/NVIDIA/Megatron-LM/issues/1225 https://github.com/NVIDIA/Megatron-LM/issues/1300
- The paper: https://arxiv.org/abs/2205.05198
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "note", "likely")


def check(training: Workload, layout: Layout, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    if layout.recompute == "selective" and training.kind == "train":
        yield from _needless_recompute_problem(training, timed, what_if)


def _needless_recompute_problem(training: Workload, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    """The problem of selective recomputation if the plan without it needs the same memory and less time."""
    without = what_if.with_layout(recompute="none")
    if without is None or not timed.memory_bytes or not without.memory_bytes:
        return
    if not timed.step_seconds or not without.step_seconds:
        return
    saved, longer = 1 - timed.memory_bytes / without.memory_bytes, timed.step_seconds / without.step_seconds - 1
    if saved > NOTICEABLE or longer < NOTICEABLE:
        return
    memory = f"{display(timed.memory_bytes, 'B')} instead of {display(without.memory_bytes, 'B')}"
    yield RULE.problem(
        "layout.recompute",
        f"selective recomputation makes the step {percent(longer, 2)} longer and saves {percent(max(0.0, saved), 2)} of the "
        f"memory ({memory}): {training.attention} attention hardly stores what this release discards",
        "write `recompute: none`, or `full` where memory is short",
        severity=what_if.severity(longer / (1 + longer)),
    )
