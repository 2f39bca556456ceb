"""The largest tier of the cache drops conversations before their users return.

## What it finds

Sessions whose users return, on average, after the largest tier has dropped their cache. The finding is a note where
keeping all sessions would gain less throughput than the model's error for that difference (the half-width of its
range), else a warning.

## Why it matters

With replacement of the least recently used entry, a cache smaller than its working set is written all the time and read
rarely: it drops each conversation shortly before its user returns. A cache larger than the working set has nearly all
returning conversations.

## What to do

Give the last tier the working set that the message states, or let users of one engine share a tier (`scope`).

## When to ignore it

Ignore it where the tier is meant for short agent loops, and conversations after long pauses may be computed again.

## Fires

```yaml workload.serving.cache_tiers[0].capacity
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
    cache_tiers: [{medium: host, capacity: 200 GB, read: 50 GB/s}]
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
    cache_tiers: [{medium: host, capacity: 8 TB, read: 50 GB/s}]
layout: {tp: 8}
```

## Sources

- Caches of conversations, and how long they have to stay: https://arxiv.org/abs/2403.19708
- Retention of an LRU cache: https://arxiv.org/abs/1202.3974
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, rounded_up

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    times, session = served.times, served.load.session
    lower = [(number, use) for number, use in enumerate(times.tiers[1:]) if use.tier is not None]
    if session is None or not lower:
        return
    number, most = max(lower, key=lambda pair: pair[1].retention)
    if most.retention >= session.think_time:
        return
    section, tier = served.design.spec.workload, most.tier
    written = section.serving.cache_tiers if section and section.serving else None
    if written is None or tier is None:
        return
    larger = Quantity(max(tier.capacity, 2 * most.working_set), "B", "enough")
    tiers = (*written[:number], replace(written[number], capacity=larger), *written[number + 1 :])
    other = served.with_load(cache_tiers=tiers)
    if other is None:
        return
    now, then = times.output_tokens_per_second, other.times.output_tokens_per_second
    yield RULE.problem(
        (*TIERS, number, "capacity"),
        f"{display(tier.capacity, 'B')} keep a cache for {display(most.retention, 's')}, but the next request comes after "
        f"{display(session.think_time, 's')}: {percent(times.prefix_hit, 2)} of the input tokens are in a cache, and "
        f"{percent(other.times.prefix_hit, 2)} would be with {display(most.working_set, 'B')}",
        f"use {display(rounded_up(most.working_set), 'B')} for each {tier.scope}, or leave the tier out",
        severity=cost_severity(max(0.0, 1 - now / then), loss_factors(times), most="warning"),
    )
