"""A pipeline has more stages than an engine has requests.

## What it finds

A serving plan whose engines have fewer requests in flight than pipeline stages: a warning, and an error where at least
three quarters of the stages are idle at any moment.

## Why it matters

The tokens of one request come one after another, and each passes all stages. At any moment a request occupies one
stage, so two requests keep two of eight stages busy. The others idle, and each token still passes all of them.

## What to do

Use tensor parallelism over these accelerators, fewer stages, or more requests at a time.

## When to ignore it

Ignore it where the accelerators have no other use and only hold the weights.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: aws-g6-48xlarge, nodes: 1}
workload:
  kind: serve
  model: qwen2.5-32b
  parameter_precision: bf16
  serving: {input_tokens: 2000, output_tokens: 500, concurrency: 2}
layout: {framework: vllm, tp: 1, pp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-g6-48xlarge, nodes: 1}
workload:
  kind: serve
  model: qwen2.5-32b
  parameter_precision: bf16
  serving: {input_tokens: 2000, output_tokens: 500, concurrency: 16}
layout: {framework: vllm, tp: 1, pp: 8}
```

## Sources

- Pipelined decoding needs several batches in flight: https://arxiv.org/abs/2403.02310
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "likely", yields_to=("pipeline-where-model-fits",))
MOST_IDLE = 0.75
"""Smallest share of idle stages at which the finding is an error."""


def check(workload: Workload, layout: Layout) -> Iterator[Problem]:
    load = workload.serving
    if load is None or load.load != "closed" or load.concurrency is None or layout.separate_engines:
        return
    each = load.concurrency / layout.dp
    if each >= layout.pp:
        return
    idle = 1 - each / layout.pp
    yield RULE.problem(
        "layout.pp",
        f"an engine has {plain(each, 2)} of the {load.concurrency:,} requests in flight and {layout.pp} stages, and each request "
        f"uses one stage at a time: {percent(idle, 2)} of the accelerators are idle",
        "use `tp` instead of stages, or plan more requests at a time",
        severity="error" if idle >= MOST_IDLE else "",
    )
