"""The longest request does not fit the cache of an engine.

## What it finds

A longest prompt (`max`, else `p99`) and output (`max`, else the mean) whose keys and values need more tokens than the
cache of one engine holds. Up to a tenth more is not reported, since the prediction is not more precise.

## Why it matters

At its last token, a request needs its whole cache. vLLM refuses to start with a maximum length that its cache cannot
hold; others refuse the request, or end it in the middle.

## What to do

Use more accelerators for an engine (`tp`), a smaller cache (`kv_precision: fp8`), or cut the longest requests.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.serving.input_tokens
clusterspec: 1
cluster: {platform: aws-g6-48xlarge, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  parameter_precision: bf16
  kv_precision: bf16
  serving: {input_tokens: {mean: 6000, p99: 30000, max: 60000}, output_tokens: 300, concurrency: 8, memory_fraction: 0.9}
layout: {framework: vllm, tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-g6-48xlarge, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  parameter_precision: bf16
  kv_precision: bf16
  serving: {input_tokens: {mean: 6000, p99: 30000, max: 60000}, output_tokens: 300, concurrency: 8, memory_fraction: 0.9}
layout: {framework: vllm, tp: 4}
```

## Sources

- The check of the engine: https://github.com/vllm-project/vllm/pull/2163
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served, longest_request
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely", yields_to=("sequence-exceeds-model-context",))
MARGIN = 1.1
"""Ratio of a request's tokens to those of the cache that the uncertainty of the capacity explains."""


def check(served: Served) -> Iterator[Problem]:
    if served.plan.fits is False or served.load.prefill is not None:
        return
    prompt, output = longest_request(served.load)
    held = served.times.kv_capacity_tokens / served.layout.data_ranks
    if prompt + output <= MARGIN * held:
        return
    yield RULE.problem(
        f"{LOAD}.input_tokens",
        f"the longest requests have {prompt + output:,} tokens, but the cache of an engine holds {display(held, '1')}",
        "use more accelerators for an engine, a smaller cache, or cut the longest requests",
    )
