"""Some nodes have no job for part of the term.

## What it finds

Shares of the jobs that take turns on the same nodes which sum to less than 0.9: a note, and a warning below 0.5. Jobs without
`share` have their nodes all the time.

## Why it matters

Idle nodes are bought, powered and cooled like the others. If another job uses them in the remaining time, the spec does
not name it, and the estimates assume that the nodes are free.

## What to do

Add the job that uses the remaining time (`nodes_of`), or raise the shares.

## When to ignore it

Ignore it where the remaining time is kept for unplanned work.

## Fires

```yaml jobs.pretrain.share
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
jobs:
  pretrain: {pool: train, share: 0.3}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
jobs:
  pretrain: {pool: train, nodes: 16, share: 0.5}
  tune: {pool: train, nodes_of: pretrain, share: 0.5}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.standard import sum_of
from clusterspec.units import percent

RULE = Rule.of(__name__, "note")
FULL, HALF = 0.9, 0.5


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        for each in pool.sets:
            jobs = [fleet.jobs[name] for name in each.jobs]
            used = sum_of(job.term_share for job in jobs)
            if used >= FULL or any(job.spec.share is None for job in jobs):
                continue
            named = and_list(f"`{job.name}`" for job in jobs)
            message = f"{named} {'has' if len(jobs) == 1 else 'have'} the nodes for {percent(used)} of the term, and no job for the rest"
            yield RULE.problem(
                ("jobs", jobs[-1].name, "share"),
                message,
                "name the job that has the rest (`nodes_of`), or raise the share",
                severity="warning" if used < HALF and not (pool.cluster is not None and pool.cluster.cloud) else "note",
            )
