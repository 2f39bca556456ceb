"""A tier of the cache only repeats tokens that the tiers above it hold.

## What it finds

A tier in `cache_tiers` that supplies less than 0.5 % of the input tokens, since a tier above it keeps requests as long,
or long enough until their users return. The finding is a note, and a
warning where the tier is smaller than the one above it.

## Why it matters

Each tier keeps a copy of the contents of the tiers above it, so a tier of the same size adds no hits. Writes to it take
bandwidth and wear out flash.

## What to do

Remove the tier, or make it enough larger than the tiers above to cover the users' pauses.

## When to ignore it

Ignore it where the tier survives restarts or is read by other plans.

## Fires

```yaml workload.serving.cache_tiers[1]
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
    cache_tiers: [{medium: host, capacity: 12 TB, read: 50 GB/s}, {medium: nvme, capacity: 8 TB, read: 12 GB/s}]
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
    cache_tiers: [{medium: host, capacity: 1 TB, read: 50 GB/s}, {medium: nvme, capacity: 8 TB, read: 12 GB/s}]
layout: {tp: 8}
```

## Sources

- Retention of an LRU cache: https://arxiv.org/abs/1202.3974
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.requests import CacheTier
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "likely")
LEAST_HIT = 0.005


def check(served: Served) -> Iterator[Problem]:
    uses, session = served.times.tiers, served.load.session
    for number, use in enumerate(uses[1:]):
        if session is None or use.tier is None or use.hit >= LEAST_HIT or use.retention < session.think_time / 2:
            continue
        above = max(uses[: number + 1], key=lambda each: each.within)
        held = use.tokens * use.token_bytes
        yield RULE.problem(
            (*TIERS, number),
            f"{display(held, 'B')} of {use.medium} for each {use.scope} keep requests for {display(use.retention, 's')}, and the {above.medium} above for "
            f"{display(above.retention, 's')}: the next request comes after {display(session.think_time, 's')}, and finds almost nothing that only this tier has",
            "leave the tier out, or state what else it is for",
            severity="warning" if _is_smaller_than_tier_above(use.tier, uses[number].tier) else "note",
        )


def _is_smaller_than_tier_above(tier: CacheTier, above: CacheTier | None) -> bool:
    """Whether a tier is smaller than the tier above it on the same node or engine, so that it only repeats content of
    that tier.
    """
    return above is not None and above.scope == tier.scope and tier.capacity < above.capacity
