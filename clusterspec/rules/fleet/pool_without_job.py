"""No job runs on a pool, or on some of its nodes.

## What it finds

The finding is a warning for a pool that no job names. It is a note for a pool whose jobs leave at least 5 % of its
nodes idle, if no `spare_nodes` are stated. In a fleet of one pool and one job, `layout.nodes` states the part that the
job uses; `estimate` prints the idle nodes.

## Why it matters

The pool is bought and powered, and does no work. Often the name of a pool in a job is wrong.

## What to do

Assign a job to the pool, or remove it. State nodes that stand by for failures as `spare_nodes`.

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
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "warning")
SOME = 0.05
"""Smallest share of a pool's nodes without a job at which the rule reports them."""


def check(fleet: Fleet) -> Iterator[Problem]:
    single = len(fleet.pools) == len(fleet.jobs) == 1
    for name, pool in fleet.pools.items():
        jobs = sum(1 for _ in fleet.jobs_of(name))
        if not jobs:
            size = f"{plural(pool.nodes, 'node')} of " if pool.nodes is not None else ""
            yield RULE.problem(
                ("pools", name), f"no job uses {size}pool `{name}`", "give it a job, or remove it", at_key=True
            )
        elif single or pool.spec.spare_nodes is not None:
            continue
        elif pool.idle_nodes and pool.nodes and pool.idle_nodes >= SOME * pool.nodes:
            yield RULE.problem(
                ("pools", name, "nodes"),
                f"{pool.idle_nodes:,} of {plural(pool.nodes, 'node')} {'has' if pool.idle_nodes == 1 else 'have'} no job ({percent(pool.idle_nodes / pool.nodes, 2)}), and none is stated as a spare",
                "give them a job, or state them as `spare_nodes`",
                severity="note",
            )
