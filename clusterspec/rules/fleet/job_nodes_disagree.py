"""Keys that state the nodes of one job disagree.

## What it finds

`nodes` of a job and `layout.nodes` in it with different values, an error; or jobs that take turns on the same nodes and
state different numbers, a note.

## Why it matters

One of the numbers is wrong. The job is estimated on the number in `nodes`; the other does not describe what runs.

## What to do

Keep one of the keys. Of jobs that take turns, state the nodes once.

## When to ignore it

Ignore it where a job deliberately uses only some of the nodes that it has in its turn.

## Fires

```yaml jobs.pretrain.layout.nodes
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain:
    pool: train
    nodes: 16
    workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
    layout: {nodes: 8, tp: 8}
  chat: {pool: serve}
```

```yaml jobs.tune.nodes
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, nodes: 16, share: 0.5}
  tune: {pool: train, nodes: 8, nodes_of: pretrain, share: 0.5}
  chat: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
  pretrain: {pool: train, nodes: 16, share: 0.5}
  tune: {pool: train, nodes_of: pretrain, share: 0.5}
  chat: {pool: serve}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, nodes_beside_trainer, nodes_of_layout, nodes_path, stated_nodes
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(fleet: Fleet) -> Iterator[Problem]:
    for name, job in fleet.jobs.items():
        inner = nodes_of_layout(job.spec)
        if job.spec.nodes is not None and inner is not None and inner != job.spec.nodes:
            beside = nodes_beside_trainer(job.spec)
            which = "its layout and rollout" if beside else "its layout"
            message = f"job `{name}` has {plural(job.spec.nodes, 'node')} and {which} {plural(inner, 'node')}"
            yield RULE.problem(("jobs", name, "layout", "nodes"), message, "keep one of the two keys")
    for pool in fleet.pools.values():
        for each in pool.sets:
            for name in each.jobs if each.path is None else ():
                own = stated_nodes(fleet.jobs[name].spec)
                if own is not None and own != each.nodes:
                    message = f"job `{name}` uses {plural(own, 'node')} of the {each.nodes} that it shares with other jobs in turn"
                    yield RULE.problem(nodes_path(fleet, name), message, "state the number once", severity="note")
