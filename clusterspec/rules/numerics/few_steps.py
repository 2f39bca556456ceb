"""The run has too few optimizer steps to train, or more than any published run.

## What it finds

The number of steps is `tokens` / (`global_batch` × `sequence_length`). Below 100 it is a warning; below 300 a note,
since the run may be fine-tuning. On 256 and more accelerators fewer than 1,000 are a warning, except with adapters or
with fewer tokens than half the active parameters. With adapters the finding is a note, and a warning below 20 steps.
Fewer than ten steps are an error. More than 20 million steps are a warning.

## Why it matters

The warm-up of the learning rate alone takes 2,000 steps in Llama 2 and 8,000 in Llama 3. A run of a few hundred steps
ends before it. Millions of steps come from a batch that is too small: the gradient is noisy, and accelerators wait for
communication in each of them.

## What to do

Use a smaller global batch or more tokens; for millions of steps a larger global batch.

## When to ignore it

Ignore it for fine-tuning on a small set, and for benchmarks of the machine.

## Fires

```yaml workload.tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 2048, tokens: 5B}
layout: {tp: 1, recompute: full}
```

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.2-1b, sequence_length: 2048, global_batch: 8, tokens: 1T}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1B}
layout: {tp: 1, recompute: full}
```

## Sources

- 2,000 steps of warm-up: https://arxiv.org/abs/2307.09288
- 8,000 steps of warm-up, section 3.4.1: https://arxiv.org/abs/2407.21783
- Batches, steps and gradient noise: McCandlish et al., https://arxiv.org/abs/1812.06162
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.tuning import is_fine_tuning
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "heuristic", yields_to=("run-shorter-than-step",))
FEW, FEW_OF_TUNING, VERY_FEW = 1000.0, 300.0, 100.0
NONE = 10.0
"""Number of steps below which no optimizer has changed the weights noticeably."""
FEWEST_OF_ADAPTERS = 20.0
"""Number of adapter-training steps below which a warm-up takes too large a share of them."""
MANY = 2e7
"""Number of steps above which a run is longer than any published one: SmolLM2 1.7B has 5.5 million (11T tokens in
batches of 2M, arXiv 2502.02737).
"""
LARGE = 256
"""Smallest number of ranks at which a run does not count as fine-tuning."""


def check(training: Workload, layout: Layout | None) -> Iterator[Problem]:
    if training.tokens is None:
        return
    step = training.tokens_of_step
    steps = training.tokens / step
    large = layout is not None and layout.ranks >= LARGE and not is_fine_tuning(training)
    if 1 <= steps < (FEW if large else FEW_OF_TUNING):
        message = f"{plain(steps, 3)} steps of {display(step, '1')} tokens are the whole run; warm-up alone takes 2,000 in published runs"
        help_ = "use a smaller global batch or more tokens"
        fewest = VERY_FEW if training.trainable is None else FEWEST_OF_ADAPTERS
        severity = "warning" if large or steps < fewest else "note"
        severity = "error" if steps < NONE else severity
        yield RULE.problem("workload.tokens", message, help_, severity=severity)
    elif steps > MANY:
        message = f"{display(steps, '1')} steps of {step:,.0f} tokens: published runs have up to about 5,500,000, with larger batches"
        yield RULE.problem("workload.global_batch", message, "use a larger global batch")
