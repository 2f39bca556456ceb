"""A job, or a link, names a pool that the spec does not have.

## What it finds

A `pool` of a job or of its engines, or a name in `pool_links`, that is no key of `pools`; engines that name a pool in a spec
of one machine; and a job with the `nodes_of` of a job on another pool.

## Why it matters

Nothing can be said about a job without a machine, and no nodes are reserved for it.

## What to do

Write the name of a pool. Jobs that take turns on the same nodes name the same pool.

## When to ignore it

Do not ignore it.

## Fires

```yaml jobs.pretrain.pool
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: trian}
  chat: {pool: serve}
```

```yaml pool_links[0].between[1]
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
pool_links: [{between: [train, server], bandwidth: 400 Gb/s}]
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
```

```yaml jobs.chat.nodes_of
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train}
  chat: {pool: serve, nodes_of: pretrain}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
pool_links: [{between: [train, serve], bandwidth: 400 Gb/s}]
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, engines_away
from clusterspec.document import nearest_words
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.source import Path

RULE = Rule.of(__name__, "error")
MOST_NAMED = 10


def check(fleet: Fleet) -> Iterator[Problem]:
    pools = fleet.spec.pools or {}
    for name, job in fleet.jobs.items():
        if job.spec.pool is not None and job.spec.pool not in pools and not fleet.spec.unreadable(("pools",)):
            yield _unknown_pool_problem(("jobs", name, "pool"), job.spec.pool, [*pools])
        for each in engines_away(job.spec):
            if each.pool not in pools and not fleet.spec.unreadable(("pools",)):
                yield _unknown_pool_problem(("jobs", name, *each.path, "pool"), each.pool, [*pools])
        first = fleet.jobs.get(job.spec.nodes_of or "")
        if first is not None and first.spec.pool != job.spec.pool:
            message = f"job `{name}` is on pool `{job.spec.pool}`, and `{first.name}` on `{first.spec.pool}`: they share no nodes"
            yield RULE.problem(("jobs", name, "nodes_of"), message, "name a job of the same pool, or drop the key")
    for number, link in enumerate(fleet.spec.pool_links or ()):
        ends = link.between or ()
        if len(ends) > len(set(ends)):
            message = f"the link joins `{ends[0]}` to itself: the fabric of the pool does that"
            yield RULE.problem(("pool_links", number, "between"), message, "name two pools")
        for end, pool in enumerate(link.between or ()):
            if pool not in pools:
                yield _unknown_pool_problem(("pool_links", number, "between", end), pool, [*pools])


def _unknown_pool_problem(at: Path, pool: str, pools: list[str]) -> Problem:
    known = nearest_words(pool, pools) or pools[:MOST_NAMED]
    return RULE.problem(at, f"no pool is called `{pool}`", f"write {alternatives_text(known)}" if known else "")
