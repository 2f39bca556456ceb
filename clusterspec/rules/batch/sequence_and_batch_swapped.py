"""The global batch and the sequence length look swapped.

## What it finds

A training job whose `sequence_length` is at most 1,024 tokens and a quarter of the context of its model, with a
`global_batch` of at least 2,048 sequences that is a multiple of 1,024 and at least four times the sequence length.

## Why it matters

The product, the tokens of a step, is the same either way, so that nothing else in a plan shows the mistake. Memory, the
share of attention, the number of micro-batches and the legal parallel degrees belong to another run.

## What to do

Swap the two values.

## When to ignore it

Ignore it for a corpus of short documents that are trained without packing.

## Fires

```yaml workload.sequence_length
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 512, global_batch: 8192, tokens: 1T}
layout: {sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 1T}
layout: {sharding: fsdp}
```

## Sources

- Context and batch of a published run: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")
SHORT = 1024
"""Sequence lengths of at most this many tokens may be a batch size."""
OF_CONTEXT = 0.25
"""A sequence of at most this share of the model's context is short for the model."""
MULTIPLE, LEAST = 1024, 2048
"""Plausible sequence lengths are multiples of `MULTIPLE` and at least `LEAST`."""
TIMES = 4
"""Smallest ratio of the batch to the sequence length at which the two look swapped."""


def check(training: Workload) -> Iterator[Problem]:
    length, batch, context = training.sequence_length, training.global_batch, training.model.max_sequence_length
    if length > SHORT or not context or length > OF_CONTEXT * context or training.rl is not None:
        return
    if batch < LEAST or batch % MULTIPLE or batch < TIMES * length or batch > context:
        return
    message = f"a step has {batch:,} sequences of {length:,} tokens, but the context of the model is {context:,}: the two values look swapped"
    help_ = f"write `sequence_length: {batch}` and `global_batch: {length}`"
    yield RULE.problem(
        "workload.sequence_length", message, help_, related=[("workload.global_batch", f"{batch:,} here")]
    )
