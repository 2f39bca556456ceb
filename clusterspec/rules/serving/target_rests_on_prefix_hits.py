"""The plan meets a latency target only with the stated share of input tokens in the cache.

## What it finds

A plan that meets its targets with the stated `prefix_hit` and misses one without it.

## Why it matters

The share of tokens found in the cache is a property of the users' requests and of the cache, not of the engine: it falls
with every request that evicts a prefix, and is zero for the first request of a session and after a restart.

## What to do

State where the share was measured, keep memory for the prefixes, and state the figure without hits, too.

## When to ignore it

Ignore it when the share was measured on the users' own requests with a cache of this size.

## Fires

```yaml workload.serving.prefix_hit
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 500, concurrency: 4, prefix_hit: 0.95, targets: {ttft: 200 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 500, concurrency: 4, prefix_hit: 0.95, targets: {ttft: 5 s}}}
layout: {tp: 8}
```

## Sources

- Reuse of cached prefixes: https://docs.vllm.ai/en/stable/features/automatic_prefix_caching/
- Shares of reuse in traces of a service: https://arxiv.org/abs/2407.00079
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.targets import missed_targets
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "note", "likely")


def check(served: Served) -> Iterator[Problem]:
    load = served.load
    if not load.prefix_hit or missed_targets(served.times, load):
        return
    cold = served.with_load(prefix_hit=None) if load.targets else None
    missed = missed_targets(cold.times, load) if cold else ()
    if cold is None or not missed:
        return
    shown = and_list(
        f"{each.quantity} {display(latency_at(served.times, load, each.quantity, each.percentile), 's')}, but "
        f"{display(latency_at(cold.times, load, each.quantity, each.percentile), 's')} without hits"
        for each in missed
    )
    yield RULE.problem(
        f"{LOAD}.prefix_hit",
        f"the plan meets its targets only with {percent(load.prefix_hit, 2)} of the input tokens in the cache: {shown}",
        "state where the share was measured, and the latency without hits",
    )
