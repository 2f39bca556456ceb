"""Prefill chunks are too small to be compute-bound.

## What it finds

A stated `chunk_tokens` below the ridge point of the accelerator's roofline: the number of tokens from which the GEMMs
of a step take longer than reading the weights.

## Why it matters

Every chunk reads all weights of the rank again. Below the ridge point, reading the weights determines the time of a
prompt: chunks of half the ridge point make prefill take twice as long.

## What to do

Use chunks of at least the ridge point; 2,048 to 8,192 tokens are usual on current accelerators.

## When to ignore it

Ignore it when a target for the time per output token requires short steps, and the time to first token is well below
its target.

## Fires

```yaml workload.serving.chunk_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 1000, concurrency: 32, chunk_tokens: 128}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 1000, concurrency: 32, chunk_tokens: 2048}}
layout: {tp: 8}
```

## Sources

- Chunk sizes and their cost: https://arxiv.org/abs/2403.02310
- Roofline: https://dl.acm.org/doi/10.1145/1498765.1498785
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.bounds import compute_bound_tokens
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import plain

RULE = Rule.of(__name__, "warning", "likely")
KEY = f"{LOAD}.chunk_tokens"


def check(served: Served) -> Iterator[Problem]:
    chunk, load = served.load.chunk_tokens, served.load
    ridge = compute_bound_tokens(served.cluster, served.workload)
    fresh = load.input_tokens * (1 - load.prefix_hit)
    if chunk is None or ridge is None or chunk >= min(ridge, fresh):
        return
    yield RULE.problem(
        KEY,
        f"a step on {served.cluster.accelerator.id} is compute-bound from {round(ridge):,} tokens on: chunks of {chunk:,} read the "
        f"weights {plain(fresh / chunk)} times per prompt, and take up to {plain(ridge / chunk, 2)} times as long as the GEMMs alone",
        f"use chunks of at least {_next_power_of_two(ridge):,} tokens",
    )


def _next_power_of_two(tokens: float) -> int:
    """The smallest power of two that is at least the given number.

    >>> _next_power_of_two(295.0), _next_power_of_two(512.0), _next_power_of_two(513.0)
    (512, 512, 1024)
    """
    return 1 << (round(tokens) - 1).bit_length()
