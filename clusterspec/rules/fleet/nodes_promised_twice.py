"""The jobs of a pool need more nodes than the pool has.

## What it finds

The jobs of a pool together state more nodes than the pool has; no node is left for the job without `nodes`, which gets
the remaining ones; or several jobs omit `nodes`. Jobs that take turns on the same nodes count once. Spare nodes do not
count, since jobs do not use them.

## Why it matters

Two jobs would run on the same nodes at the same time. The times of all of them would be wrong.

## What to do

Reduce the nodes of a job, enlarge the pool, or let jobs take turns with `nodes_of` and `share`.

## When to ignore it

Do not ignore it.

## Fires

```yaml jobs.tune.nodes
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, nodes: 12}
  tune: {pool: train, nodes: 8}
  chat: {pool: serve}
```

```yaml jobs.tune
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train}
  tune: {pool: train}
  chat: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, nodes: 12}
  tune: {pool: train}
  chat: {pool: serve}
```

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, nodes: 12, share: 0.5}
  tune: {pool: train, nodes: 12, share: 0.5, nodes_of: pretrain}
  chat: {pool: serve}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, NodeSet, Pool, node_set_path
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        if pool.nodes is not None:
            yield from _pool_problems(fleet, pool, pool.nodes)


def _pool_problems(fleet: Fleet, pool: Pool, nodes: int) -> Iterator[Problem]:
    rest = [each for each in pool.sets if not each.stated]
    if len(rest) > 1:
        names = " and ".join(f"`{each.jobs[0]}`" for each in rest)
        message = (
            f"{names} leave out their nodes: how many of the {nodes} of pool `{pool.name}` each has is not determined"
        )
        yield RULE.problem(("jobs", rest[1].jobs[0]), message, "state `nodes` of all jobs but one", at_key=True)
    promised = pool.promised_nodes
    if promised > nodes:
        last = _first_excess_set(pool, nodes)
        message = f"the jobs of pool `{pool.name}` have {promised} nodes, but it has {nodes}{_spare_text(pool)}"
        yield RULE.problem(
            node_set_path(fleet, last),
            message,
            "give a job fewer nodes, or let jobs take turns with `nodes_of` and `share`",
        )
    elif rest and rest[0].nodes is None and len(rest) == 1:
        message = f"the other jobs have all {plural(nodes, 'node')} of pool `{pool.name}`: none is left for `{rest[0].jobs[0]}`"
        yield RULE.problem(
            ("jobs", rest[0].jobs[0]), message, "give another job fewer nodes, or enlarge the pool", at_key=True
        )


def _first_excess_set(pool: Pool, nodes: int) -> NodeSet:
    """The first set of nodes with which the jobs exceed the nodes of the pool."""
    total = 0
    for each in pool.sets:
        total += each.nodes or 0
        if total > nodes:
            return each
    return pool.sets[-1]


def _spare_text(pool: Pool) -> str:
    spares = pool.spec.spare_nodes or 0
    return f"; its {plural(spares, 'spare')} {'does' if spares == 1 else 'do'} no work" if spares else ""
