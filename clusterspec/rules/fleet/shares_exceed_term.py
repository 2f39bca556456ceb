"""The shares of jobs on the same nodes sum to more than 1.

## What it finds

A `share` above 1, and jobs that take turns on the same nodes (`nodes_of`) whose shares sum to more than 1. A job without
`share` has its nodes all the time.

## Why it matters

The jobs would need more time than there is. The estimated output of each job within the term is too high.

## What to do

State shares that sum to at most 1, or give the jobs separate nodes.

## When to ignore it

Do not ignore it.

## Fires

```yaml jobs.tune.share
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, share: 0.8}
  tune: {pool: train, nodes_of: pretrain, share: 0.4}
  chat: {pool: serve}
```

```yaml jobs.tune.share
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, share: 0.8}
  tune: {pool: train, nodes_of: pretrain}
  chat: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, share: 0.8}
  tune: {pool: train, nodes_of: pretrain, share: 0.2}
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
from clusterspec.standard import sum_of
from clusterspec.units import plain

RULE = Rule.of(__name__, "error")
ROUNDING = 1e-9


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        for each in pool.sets:
            total = sum_of(fleet.jobs[name].term_share for name in each.jobs)
            if total > 1 + ROUNDING:
                shares = " + ".join(plain(fleet.jobs[name].term_share, 3) for name in each.jobs)
                jobs = " and ".join(f"`{name}`" for name in each.jobs)
                message = (
                    f"{jobs} on the same nodes have {shares} = {plain(total, 3)} of the term"
                    if len(each.jobs) > 1
                    else f"{jobs} has {shares} of the term"
                )
                yield RULE.problem(("jobs", each.jobs[-1], "share"), message, "reduce the shares to a sum of at most 1")
