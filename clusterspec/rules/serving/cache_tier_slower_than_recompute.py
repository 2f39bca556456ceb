"""A tier of the cache takes longer to read than its tokens take to compute.

## What it finds

A tier in `cache_tiers` from which a request reads its cached tokens more slowly than the engine computes them, with the
tier's bandwidth shared with the other requests. The finding is a note where the time to read lies within the range of
the time to compute, a warning above that range, and an error from a third above it.

## Why it matters

A hit only helps if reading is faster than prefill. Engines read cached tokens without comparing the two, so a slow tier
raises the time to first token.

## What to do

Use more drives or a wider network (`read`), fewer engines for each unit of the tier (`scope`), a smaller cache
(`kv_precision: fp8`), or leave the tier out.

## When to ignore it

Ignore it where only throughput matters: a read leaves the accelerators to other requests.

## Fires

```yaml workload.serving.cache_tiers[0].read
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 8
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: nvme, capacity: 30 TB, read: 1 GB/s}]
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 8
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: nvme, capacity: 30 TB, read: 24 GB/s}]
layout: {tp: 8}
```

## Sources

- Loading against recomputing: https://arxiv.org/abs/2403.19708 https://arxiv.org/abs/2407.00079
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.constants import MOST_LOAD
from clusterspec.cost.serving.latency import range_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
LEAST_HIT = 0.005
"""Share of the input tokens that a tier must provide for its speed to be judged exactly."""
FAR_SLOWER = 2.0
"""Smallest ratio to the time of recomputation at which tiers with fewer hits are judged too: every hit loses time."""


def check(served: Served) -> Iterator[Problem]:
    times, load = served.times, served.load
    if not any(use.tier is not None for use in times.tiers):
        return
    cold = served.with_load(session=None, cache_tiers=None)
    if cold is None or times.prefix_hit <= 0:
        return
    saved = (cold.times.prompt_time - times.prompt_time) / (times.prefix_hit * load.input_tokens)
    for number, use in enumerate(times.tiers[1:]):
        if use.tier is None:
            continue
        read = use.token_bytes / use.tier.read / (1 - min(use.busy, MOST_LOAD))
        if read <= saved * (1.0 if use.hit >= LEAST_HIT else FAR_SLOWER):
            continue
        tokens = use.within * load.input_tokens
        yield RULE.problem(
            (*TIERS, number, "read"),
            f"the cache of {tokens:,.0f} tokens takes {display(tokens * read, 's')} to read at {display(use.tier.read, 'B/s')}, of which the "
            f"requests use {percent(min(1.0, use.busy), 2)}, and {display(tokens * saved, 's')} to compute",
            "use a wider tier, a smaller cache (`kv_precision: fp8`), or leave the tier out",
            severity=target_severity(saved, read, range_factors(cold.times, "ttft")),
        )
