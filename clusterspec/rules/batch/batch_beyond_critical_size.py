"""The batch is larger than the run can use.

## What it finds

A global batch, in tokens, above the critical batch size of a run of `tokens`: where a fifth of all tokens are wasted. Silent
below 1.7 billion tokens, where it was not measured.

## Why it matters

Up to a point, twice the batch is half the steps. Beyond it every replica added sees more data for the same loss. The point grows with
the length of the run, not with the model: 2,580 sequences of 512 tokens for 24.6B tokens, and 2^0.47 times as many for twice the run,
which is 4M tokens for 300B and 27M for 15T.

## What to do

A smaller batch, with the accelerators in tensor, pipeline or context parallelism instead of replicas; or a batch that grows during
the run.

## When to ignore it

Where a sweep on this data showed otherwise, and where time matters more than the cost of a token. The law is fitted to models of up to
1.2B parameters.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 4096, tokens: 1T}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 2T}
layout: {tp: 1}
```

## Sources

- The law and its constants: Zhang et al., arXiv 2410.21676; figure at https://github.com/hlzhang109/critical-batch-size
- The same exponent, measured otherwise: https://arxiv.org/abs/2505.13738
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, plain, say

RULE = Rule.of(__name__, "warning", "heuristic")
MEASURED_BATCH = 2580 * 512
"""Tokens of the critical batch of the longest run measured, and that run's tokens."""
MEASURED_TOKENS = 24.6e9
EXPONENT = 0.47
SHORTEST = 1.7e9
WASTE = 0.20
"""Of the tokens, at the critical batch: that is how the authors define it."""


def check(facts: Facts, training: Workload) -> Iterator[Problem]:
    tokens, step = training.tokens, training.global_batch * training.sequence_length
    if tokens is None or tokens < SHORTEST or step >= tokens:
        return
    critical = critical_batch(tokens)
    if step <= facts.threshold(RULE, 1.0) * critical:
        return
    fitting = int(critical // training.sequence_length)
    yield RULE.problem(
        "workload.global_batch",
        f"{_tokens(step)} tokens a step are {plain(step / critical)} times what a run of {_tokens(tokens)} tokens can use "
        f"({_tokens(critical)}): about {percent(WASTE * step / critical, 2)} of the tokens are wasted",
        f"a batch of {fitting:,} at most, and the accelerators in tp, pp or cp instead of replicas",
    )


def critical_batch(tokens: float) -> float:
    """Tokens of a batch beyond which a fifth of a run's tokens are wasted: B = 2580 · 512 · (D / 24.6e9)^0.47.

    >>> round(critical_batch(24.6e9)), round(critical_batch(15e12) / 1e6)
    (1320960, 27)
    """
    return float(MEASURED_BATCH * (tokens / MEASURED_TOKENS) ** EXPONENT)


def _tokens(count: float) -> str:
    return f"{plain(count / 1e6)}M" if 1e6 <= count < 1e9 else say(count, "1")
