"""No job runs on a pool.

## What it finds

A pool that no job names.

## Why it matters

It is bought, powered and paid for, and does no work. Often the name of a pool in a job is wrong.

## What to do

Give it a job, or remove it.

## When to ignore it

Ignore it where the pool is bought for work that is not planned yet.

## Fires

```yaml pools.serve
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "warning")


def check(fleet: Fleet) -> Iterator[Problem]:
    for name, pool in fleet.pools.items():
        if not any(True for _ in fleet.jobs_of(name)):
            size = f"{plural(pool.nodes, 'node')} of " if pool.nodes is not None else ""
            yield RULE.problem(
                ("pools", name), f"no job uses {size}pool `{name}`", "give it a job, or remove it", at_key=True
            )
