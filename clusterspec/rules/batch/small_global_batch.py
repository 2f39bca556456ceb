"""The global batch is far smaller than in published pre-training.

## What it finds

Pre-training of a model with at least 3 billion active parameters on at least 100 billion tokens, in steps of fewer than
200,000 tokens.

## Why it matters

Published runs of that size take 0.5 to 16 million tokens per step: GPT-3 2.7B 1 million, Llama 2 4 million. With a tenth
of it the run has ten times the steps, each gradient is noisy, and the accelerators wait for optimizer steps, reductions and
pipelines that never fill.

## What to do

Use a larger global batch, with the learning rate that belongs to it; ramp it up at the start where that helps.

## When to ignore it

Ignore it where the recipe was tried with this batch.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 16, tokens: 1.4T}
layout: {framework: megatron-core, tp: 8, pp: 4, virtual_stages: 5}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, tokens: 1.4T}
layout: {framework: megatron-core, tp: 8, pp: 4, virtual_stages: 5}
```

## Sources

- Batches of GPT-3 by size, table 2.1: https://arxiv.org/abs/2005.14165
- 4 million tokens for Llama 2: https://arxiv.org/abs/2307.09288
- Noise of gradients and the batch: https://arxiv.org/abs/1812.06162
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "heuristic", yields_to=("few-steps",))
LEAST = 200_000
"""Tokens of a step below which the batch is small."""
LONG = 100e9
"""Tokens of a run from which the run is not an experiment."""
LARGE = 3e9
"""Smallest number of active parameters at which a batch of so few tokens is unusual."""


def check(training: Workload) -> Iterator[Problem]:
    if training.tokens is None or training.tokens < LONG or training.trainable is not None:
        return
    step = training.global_batch * training.sequence_length
    if step >= LEAST or training.rl is not None or model_weights(training.model).active_weights < LARGE:
        return
    steps = training.tokens / step
    message = f"{step:,} tokens per step make {display(steps, '1')} steps: published pre-training of this size takes 500,000 tokens and more per step"
    yield RULE.problem(
        "workload.global_batch", message, "use a larger global batch, with the learning rate for that batch"
    )
