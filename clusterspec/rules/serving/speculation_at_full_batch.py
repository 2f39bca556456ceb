"""Speculative decoding lowers the throughput of a full batch.

## What it finds

The stated speculative decoding lowers the predicted throughput at the load of the spec by more than 2 %. Severity follows the predicted loss: a note below the half-width of the range of that difference, a warning
above it, and an error if at least a quarter is lost even at the low end of the range.

## Why it matters

Verifying drafted tokens is nearly free while a step is bound by reading weights. With many requests in flight a step is
bound by its arithmetic, and each rejected token takes as long as an accepted one.

## What to do

Use speculative decoding only at a concurrency at which it helps, draft fewer tokens, or do not use it.

## When to ignore it

Ignore it where the load is usually far below the one in the spec.

## Fires

```yaml workload.serving.speculative
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 300, output_tokens: 500, concurrency: 3072, speculative: {tokens: 5, acceptance: 0.2, method: ngram}}}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 300, output_tokens: 500, concurrency: 16, speculative: {tokens: 5, acceptance: 0.2, method: ngram}}}
layout: {tp: 1}
```

## Sources

- Gains that disappear with the batch: https://arxiv.org/abs/2601.11580
- When vLLM recommends it: https://docs.vllm.ai/en/stable/features/spec_decode/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    plain = served.with_load(speculative=None) if load.draft_tokens else None
    if plain is None:
        return
    now, then = times.output_tokens_per_second, plain.times.output_tokens_per_second
    lost = 1 - now / then
    if lost <= NOTICEABLE:
        return
    yield RULE.problem(
        f"{LOAD}.speculative",
        f"with {plural(round(times.offered), 'request')} in flight, {plural(load.draft_tokens, 'draft token')} at an acceptance of "
        f"{percent(load.draft_acceptance, 2)} lower the throughput: predicted {display(now, '1')} output tokens per second, "
        f"{display(then, '1')} without them ({percent(lost, 2)} lost)",
        "draft fewer tokens, or none at this load",
        severity=cost_severity(lost, loss_factors(times)),
    )
