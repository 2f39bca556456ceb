"""The jobs of a rack-scale pool do not fit into whole domains.

## What it finds

Jobs that cannot be placed so that each has whole scale-up domains and at most one partial domain: an error. It is a
warning where a job larger than a domain fits only if it shares a domain with another job. The rule is silent for pools
whose domain is one node.

## Why it matters

The estimate of a job fills the nodes of one domain before the next. Where the free nodes are spread over more domains
than that, groups that should lie within a domain cross the scale-out network, which is many times slower. Where two jobs
share a domain, its failure or service stops both.

## What to do

Give jobs whole domains, or parts that together fill a domain.

## When to ignore it

Ignore it where no group of the affected job needs a whole domain.

## Fires

```yaml jobs.c.nodes
clusterspec: 1
pools:
  racks: {platform: gb200-nvl72, nodes: 36}
jobs:
  a: {pool: racks, nodes: 12}
  b: {pool: racks, nodes: 12}
  c: {pool: racks, nodes: 12}
```

```yaml jobs.b.nodes
clusterspec: 1
pools:
  racks: {platform: gb200-nvl72, nodes: 54}
jobs:
  a: {pool: racks, nodes: 27}
  b: {pool: racks, nodes: 27}
```

## Silent

```yaml
clusterspec: 1
pools:
  racks: {platform: gb200-nvl72, nodes: 36}
jobs:
  a: {pool: racks, nodes: 12}
  b: {pool: racks, nodes: 6}
  c: {pool: racks, nodes: 18}
```

```yaml
clusterspec: 1
pools:
  racks: {platform: gb200-nvl72, nodes: 36}
jobs:
  a: {pool: racks, nodes: 18}
  b: {pool: racks, nodes: 16}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.fleet import Fleet, NodeSet, node_set_path
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")
MOST_PLACED = 10
"""Largest number of partial domains for which all placements are tried; the largest ones are tried first."""


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        size = nodes_of_domain(pool.cluster) if pool.cluster else 1
        if size > 1 and pool.nodes is not None and pool.promised_nodes <= pool.nodes:
            spread = _first_unplaced_set(pool.sets, pool.nodes, size)
            if spread is not None:
                message = f"the {spread.nodes} nodes left for `{spread.jobs[0]}` lie in more domains of {size} nodes than {plural(spread.nodes or 0, 'node')} need"
                yield RULE.problem(
                    node_set_path(fleet, spread),
                    message,
                    f"give jobs multiples of {size} nodes, or parts that complete each other to {size}",
                )
            elif (sharing := _sharing_a_domain(pool.sets, pool.nodes, size)) is not None:
                first, second = sharing
                message = f"`{first.jobs[0]}` has {first.nodes} nodes and `{second.jobs[0]}` {second.nodes}, and one domain of {size} nodes holds a part of both: its failure stops both"
                yield RULE.problem(
                    node_set_path(fleet, second),
                    message,
                    f"give jobs multiples of {size} nodes",
                    severity="warning",
                )


def _first_unplaced_set(sets: tuple[NodeSet, ...], nodes: int, size: int) -> NodeSet | None:
    """The first set of nodes that fits no domain after the larger sets, whole domains first; None if all fit."""
    whole = sum((each.nodes or 0) // size for each in sets)
    free = [size] * max(0, nodes // size - whole) + [nodes % size]
    partial = sorted((each for each in sets if (each.nodes or 0) % size), key=lambda one: -((one.nodes or 0) % size))
    for count, each in enumerate(partial[:MOST_PLACED], 1):
        if not _can_hold(tuple((one.nodes or 0) % size for one in partial[:count]), tuple(sorted(free))):
            return each
    return None


def _sharing_a_domain(sets: tuple[NodeSet, ...], nodes: int, size: int) -> tuple[NodeSet, NodeSet] | None:
    """Two sets of nodes that must share a domain although at least one of them also fills whole domains; None if no
    sets must.
    """
    parts = [each for each in sets if (each.nodes or 0) % size]
    long = [each for each in parts if (each.nodes or 0) > size]
    filled = sum((each.nodes or 0) // size for each in sets)
    if len(parts) == 2 and len(long) == 1 and filled + 2 > nodes // size:
        return long[0], next(each for each in parts if each is not long[0])
    ending = [each for each in sets if (each.nodes or 0) > size and (each.nodes or 0) % size]
    whole = sum((each.nodes or 0) // size for each in sets)
    return (ending[-2], ending[-1]) if len(ending) > 1 and whole + len(ending) > nodes // size else None


@lru_cache(maxsize=4096)
def _can_hold(parts: tuple[int, ...], free: tuple[int, ...]) -> bool:
    """Whether parts can be placed in domains with the given numbers of free nodes, each part in one domain."""
    if not parts:
        return True
    first, rest = parts[0], parts[1:]
    for left in {*free}:
        if left >= first:
            others = [*free]
            others.remove(left)
            if _can_hold(rest, tuple(sorted([*others, left - first]))):
                return True
    return False
