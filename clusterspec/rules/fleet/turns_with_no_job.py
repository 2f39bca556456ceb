"""A job takes turns with a job that does not exist.

## What it finds

In a fleet of several jobs, a `nodes_of` that is neither the name of a job nor the `nodes_of` of another job.

## Why it matters

The job then needs separate nodes: the nodes of the pool are promised twice, or the job takes the nodes that the other
jobs leave.

## What to do

Write the name of the job with which it takes turns, or drop the key.

## When to ignore it

Ignore it in a fleet that is still being written.

## Fires

```yaml jobs.tune.nodes_of
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
jobs:
  pretrain: {pool: train, nodes: 16, share: 0.7}
  tune: {pool: train, nodes_of: pretrian, share: 0.3}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
jobs:
  pretrain: {pool: train, nodes_of: day, nodes: 16, share: 0.7}
  tune: {pool: train, nodes_of: day, share: 0.3}
```

## Sources

- Jobs that take turns: docs/fleet.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.document import nearest_words
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")


def check(fleet: Fleet) -> Iterator[Problem]:
    named = Counter(job.spec.nodes_of for job in fleet.jobs.values())
    for name, job in fleet.jobs.items():
        of = job.spec.nodes_of
        if of is None or of in fleet.jobs or named[of] > 1 or len(fleet.jobs) == 1:
            continue
        others = [other for other, one in fleet.jobs.items() if other != name and one.spec.pool == job.spec.pool]
        known = nearest_words(of, others) or others[:3]
        yield RULE.problem(
            ("jobs", name, "nodes_of"),
            f"no job is called `{of}`, and no other job names it in `nodes_of`: `{name}` takes turns with no job",
            f"write {alternatives_text(known)}, or drop the key" if known else "drop the key",
        )
