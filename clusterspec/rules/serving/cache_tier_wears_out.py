"""The cache overwrites its drives more often than their endurance allows.

## What it finds

A tier that the requests overwrite more often per day than its `writes_per_day`. Every token that the tier does not hold
yet is written to it; without a `session`, these are the output tokens and the input tokens outside `prefix_hit`. The
finding is a warning, not an error: the service runs on, and worn drives can be replaced. The message says how long drives
last whose rating holds for five years.

## Why it matters

Flash is rated in drive writes per day over its warranty. Beyond that endurance, drives fail years early, all at about
the same time.

## What to do

Use more capacity or drives of a higher endurance, write only conversations that have returned once, or share the tier
over a larger `scope`.

## When to ignore it

Ignore it where the drives are replaced on a schedule that the budget contains.

## Fires

```yaml workload.serving.cache_tiers[0].writes_per_day
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
    cache_tiers: [{medium: nvme, capacity: 15 TB, read: 24 GB/s, writes_per_day: 1}]
layout: {tp: 8}
```

```yaml workload.serving.cache_tiers[0].writes_per_day
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 2
    prefix_hit: 0.4
    cache_tiers: [{medium: nvme, capacity: 15 TB, read: 24 GB/s, writes_per_day: 1}]
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
    request_rate: 1
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: nvme, capacity: 60 TB, read: 24 GB/s, writes_per_day: 3}]
layout: {tp: 8}
```

## Sources

- Drive writes per day: https://www.techtarget.com/whatis/definition/DWPD-device-drive-writes-per-day
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.caches import TierUse, tiers_with_stated_hits
from clusterspec.cost.serving.times import serving_pools
from clusterspec.finding import Problem
from clusterspec.quantity import YEAR
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, rounded_up

RULE = Rule.of(__name__, "warning", "likely")
WARRANTED = 5.0
"""Years for which data sheets of data center drives rate their overwrites a day."""


def check(served: Served) -> Iterator[Problem]:
    if not served.load.tiers:
        return
    for number, use in enumerate(_tiers(served)[1:]):
        rated, actual = (use.tier.writes_per_day if use.tier else None), use.overwrites_per_day
        if rated is None or actual is None or use.tier is None or actual <= rated:
            continue
        needed, lasts = use.tier.capacity * actual / rated, WARRANTED * rated / actual
        yield RULE.problem(
            (*TIERS, number, "writes_per_day"),
            f"the requests write {display(use.written, 'B/s')} of cache to {display(use.tier.capacity, 'B')}: {plain(actual, 2)} times the capacity "
            f"per day, but `writes_per_day` is {plain(rated)}: rated for {WARRANTED:g} years, the drives last {display(lasts * YEAR, 's')}",
            f"use {display(rounded_up(needed), 'B')}, or drives for {plain(rounded_up(actual))} overwrites per day",
        )


def _tiers(served: Served) -> tuple[TierUse, ...]:
    """The cache tiers of the plan, the accelerators' memory first; empty if a trace determines which tokens hit."""
    load = served.load
    if served.times.tiers or not load.tiers or load.trace is not None:
        return served.times.tiers
    pools = serving_pools(served.design)
    return tiers_with_stated_hits(pools, served.times.state.rate) if pools is not None else ()
