"""Chunks of prefill are too small to be bound by arithmetic.

## What it finds

A stated `chunk_tokens` below the ridge of the accelerator's roofline: the tokens from which the products of a step take longer
than reading the weights.

## Why it matters

Every chunk reads all weights of the rank again. Below the ridge a prompt takes the time of its chunks' weights, not of
its arithmetic: with half the tokens of the ridge, twice as long.

## What to do

Use chunks of at least the ridge; 2,048 to 8,192 tokens on current accelerators.

## When to ignore it

Where a target for the time per output token asks for short steps and the time to the first token has slack.

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
        f"{served.cluster.accelerator.id} is bound by arithmetic from {round(ridge):,} tokens of a step: chunks of {chunk:,} read the "
        f"weights {plain(fresh / chunk, 2)} times for a prompt, and take up to {plain(ridge / chunk, 2)} times as long as its arithmetic",
        f"use chunks of at least {_rounded(ridge):,} tokens",
    )


def _rounded(tokens: float) -> int:
    """The next power of two.

    >>> _rounded(295.0)
    512
    """
    return 1 << (round(tokens) - 1).bit_length()
