"""Gradients are compressed more than in published training of language models.

## What it finds

`gradient_compression` above 8. The finding is a warning, and a note over TCP, where sites exchange gradients rarely and
in few bits, as DiLoCo does.

## Why it matters

One bit per number, 32 times less than fp32, reaches the loss of Adam for transformers only after 15 to 25 % of the
steps in full precision, and with error feedback. The spec can state neither condition. Stronger compression delays most
gradients by many steps.

## What to do

Use 8 or less, or hierarchical sharding, which sends less across nodes without a loss.

## When to ignore it

Ignore it where convergence with this compression was measured, or where the first part of the run is not compressed.

## Options

`thresholds = {gradients-compressed = 8.0}` in the configuration sets the factor above which the rule reports. The number
is a ratio of bytes. The default is 8.0.

## Fires

```yaml layout.gradient_compression
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 1, gradient_compression: 100}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 1, gradient_compression: 2}
```

## Sources

- One bit per number: Tang et al., 1-bit Adam, https://arxiv.org/abs/2102.02888
- 400 times fewer bytes between sites, by 100 steps between exchanges and int8: INTELLECT-1,
  https://arxiv.org/abs/2412.01152
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import plain, rounded_down

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 8.0


def check(thresholds: Thresholds, training: Workload, layout: Layout, scale_out: ScaleOut | None) -> Iterator[Problem]:
    factor, most = layout.gradient_compression, thresholds.of(RULE.name, MOST)
    if factor > most:
        message = f"gradients are compressed {plain(factor)} times; beyond {plain(most)} published training of transformers starts with whole gradients"
        severity = "note" if scale_out is not None and scale_out.technology.family == "tcp" else ""
        help_ = f"use {plain(rounded_down(most))} or less"
        yield RULE.problem("layout.gradient_compression", message, help_, severity=severity)
