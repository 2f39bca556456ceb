"""A spec describes one cluster and a fleet.

## What it finds

`cluster`, `workload` or `layout` at the top level of a spec with `pools` and `jobs`.

## Why it matters

The top-level sections describe one pool with one job. With `pools` and `jobs` they have no effect, since the spec
does not state on which pool that workload runs.

## What to do

Move `cluster` to a pool, and `workload` and `layout` to a job. With one machine and one workload, remove `pools` and
`jobs`.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 16}
pools:
  train: {platform: dgx-b200, nodes: 16}
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

RULE = Rule.of(__name__, "error")
HOMES = {"cluster": "a pool", "workload": "a job", "layout": "a job"}


def check(fleet: Fleet) -> Iterator[Problem]:
    for key, home in HOMES.items():
        if getattr(fleet.spec, key) is not None:
            message = f"next to `pools` and `jobs`, `{key}` has no effect"
            yield RULE.problem(key, message, f"move its keys to {home}, or drop `pools` and `jobs`", at_key=True)
