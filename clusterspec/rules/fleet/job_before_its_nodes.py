"""A job needs more nodes than the first phase of its pool has.

## What it finds

Jobs of a pool with `phases` that together need more nodes than the first phase has. In the order of the file, the last
job waits for the phase that provides its nodes. A job without stated nodes takes the nodes that the other jobs leave in
each phase. It is a note, and a warning where that phase comes after `procurement.needed_by`.

## Why it matters

The estimate of the job holds only from the date of that phase. Deadlines, the cost of the first months and the order of
work depend on this date.

## What to do

Plan the start of the job for that date, give it fewer nodes, or let jobs take turns until then.

## When to ignore it

Ignore it where the job is planned for the later phase.

## Fires

```yaml jobs.pretrain.nodes
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  pretrain: {pool: train, nodes: 48}
```

```yaml jobs.pretrain.nodes
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  pretrain: {pool: train, nodes: 48}
procurement: {currency: EUR, as_of: 2026-11-23, needed_by: 2027-04-15}
```

## Silent

```yaml
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  pretrain: {pool: train, nodes: 32}
```

```yaml
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  pretrain: {pool: train}
  tune: {pool: train, nodes: 16}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Pool, node_set_path
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "note")


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        if pool.spec.phases:
            yield from _waiting_job_problems(fleet, pool)


def _waiting_job_problems(fleet: Fleet, pool: Pool) -> Iterator[Problem]:
    phases = [phase for phase in pool.spec.phases or () if phase.nodes and phase.date]
    promised = 0
    for each in pool.sets:
        promised += (each.nodes or 0) if each.stated else 0  # a job that takes what others leave grows with the pool
        if not phases or promised <= (phases[0].nodes or 0) or not each.stated:
            continue
        start = next((phase.date for phase in phases if (phase.nodes or 0) >= promised), None)
        if start is not None:
            message = f"`{each.jobs[0]}` cannot start before {start}: with it the jobs have {promised} nodes, but pool `{pool.name}` has {phases[0].nodes} from {phases[0].date} on"
            late = _days_after_need(fleet, start)
            message += f", and the machine is needed {plural(late, 'day')} earlier" if late else ""
            help_ = "plan its start for that date, or give it fewer nodes"
            yield RULE.problem(node_set_path(fleet, each), message, help_, severity="warning" if late else "note")
            return


def _days_after_need(fleet: Fleet, start: str) -> int:
    """The days from `needed_by` to a later start; 0 where either date is not known."""
    needed = date_of_text(fleet.spec.procurement.needed_by if fleet.spec.procurement else None)
    begins = date_of_text(start)
    return max(0, (begins - needed).days) if needed and begins else 0
