"""A job, or a link, names a pool that the spec does not have.

## What it finds

A `pool` of a job, of its engines or of a storage system, or a name in `pool_links`, that is no key of `pools`; engines or a
storage system that name a pool in a spec of one machine; a second link between the same pools; a storage system of a
pool that has none of its own or describes none; and a job with the `nodes_of` of a job on another pool.

## Why it matters

A job without a pool has no estimate and no nodes. A storage system on an unknown pool appears in no bill of materials.

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

```yaml pool_links[1].between
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
pool_links: [{between: [train, serve], bandwidth: 400 Gb/s}, {between: [serve, train], bandwidth: 200 Gb/s}]
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
```

```yaml pools.serve.networks.storage.pool
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16, networks: {storage: {bandwidth: 80 GB/s}}}
  serve: {platform: dgx-h200, nodes: 4, networks: {storage: {pool: trian}}}
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
```

```yaml pools.serve.networks.storage.pool
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4, networks: {storage: {pool: train}}}
jobs:
  pretrain: {pool: train}
  chat: {pool: serve}
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

from clusterspec.cluster.fleet import Fleet, engines_on_other_pools
from clusterspec.document import nearest_words
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.source import Path
from clusterspec.spec.model import PoolSpec

RULE = Rule.of(__name__, "error")
MOST_NAMED = 10


def check(fleet: Fleet) -> Iterator[Problem]:
    pools = fleet.spec.pools or {}
    for name, job in fleet.jobs.items():
        if job.spec.pool is not None and job.spec.pool not in pools and not fleet.spec.unreadable(("pools",)):
            yield _unknown_pool_problem(("jobs", name, "pool"), job.spec.pool, [*pools])
        for each in engines_on_other_pools(job.spec):
            if each.pool not in pools and not fleet.spec.unreadable(("pools",)):
                yield _unknown_pool_problem(("jobs", name, *each.path, "pool"), each.pool, [*pools])
        first = fleet.jobs.get(job.spec.nodes_of or "")
        if first is not None and first.spec.pool != job.spec.pool:
            message = f"job `{name}` is on pool `{job.spec.pool}`, but `{first.name}` on `{first.spec.pool}`: they share no nodes"
            yield RULE.problem(("jobs", name, "nodes_of"), message, "name a job of the same pool, or drop the key")
    for name in fleet.pools:
        yield from _store_problems(fleet, name)
    for number, link in enumerate(fleet.spec.pool_links or ()):
        ends = link.between or ()
        if len(ends) > len(set(ends)):
            message = f"the link joins `{ends[0]}` to itself: the fabric of the pool joins its nodes"
            yield RULE.problem(("pool_links", number, "between"), message, "name two pools")
        elif any(set(ends) == set(other.between or ()) for other in (fleet.spec.pool_links or ())[:number]):
            message = f"a link above joins {and_list(f'`{end}`' for end in ends)}, too: this one has no effect"
            yield RULE.problem(
                ("pool_links", number, "between"), message, "write one link with the bandwidth of both together"
            )
        for end, pool in enumerate(link.between or ()):
            if pool not in pools:
                yield _unknown_pool_problem(("pool_links", number, "between", end), pool, [*pools])


def _store_problems(fleet: Fleet, name: str) -> Iterator[Problem]:
    """Problems of a pool that names another pool for its storage system: the named pool is unknown, is the pool itself,
    describes no storage system, or names a third pool.
    """
    pools = fleet.spec.pools or {}
    named = _pool_of_store(pools.get(name))
    at = ("pools", name, "networks", "storage", "pool")
    if named is None or fleet.spec.unreadable(("pools",)):
        return
    if named not in pools:
        yield _unknown_pool_problem(at, named, [other for other in pools if other != name])
    elif named == name:
        yield RULE.problem(at, f"pool `{name}` names itself for its storage system", "drop the key")
    elif not _describes_store(pools[named]):
        message = f"pool `{name}` has the storage system of pool `{named}`, which describes none"
        yield RULE.problem(at, message, f"describe `networks.storage` of pool `{named}`, or of this one")
    elif (further := _pool_of_store(pools[named])) is not None:
        message = f"pool `{name}` names pool `{named}` for its storage system, but that pool names `{further}`"
        yield RULE.problem(at, message, f"name the pool that has it: `{further}`")


def _pool_of_store(pool: PoolSpec | None) -> str | None:
    networks = pool.networks if pool is not None else None
    return networks.storage.pool if networks is not None and networks.storage is not None else None


def _describes_store(pool: PoolSpec) -> bool:
    return pool.networks is not None and pool.networks.storage is not None


def _unknown_pool_problem(at: Path, pool: str, pools: list[str]) -> Problem:
    known = nearest_words(pool, pools) or pools[:MOST_NAMED]
    return RULE.problem(at, f"no pool is called `{pool}`", f"write {alternatives_text(known)}" if known else "")
