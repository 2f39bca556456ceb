"""Keys that state the nodes of one job disagree.

## What it finds

- A job whose `nodes` and `layout.nodes` differ: an error.
- A job whose prefill and decode engines are on different pools, and whose `nodes` are too few for its own engines: an
  error.
- Jobs that take turns on the same nodes and state different numbers: a note.

## Why it matters

One of the numbers is wrong. The job is estimated on the number in `nodes`; the other number does not describe the job.

## What to do

Keep one of the keys. If jobs take turns, state their nodes once.

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

```yaml jobs.chat.nodes
clusterspec: 1
pools:
  fast: {platform: dgx-h200, nodes: 6}
  wide: {platform: dgx-h100, nodes: 4}
pool_links: [{between: [fast, wide], bandwidth: 1.6 Tb/s}]
jobs:
  chat:
    pool: fast
    nodes: 3
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {replicas: 4, tp: 8}, decode: {pool: wide, replicas: 4, tp: 8}}
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

```yaml
clusterspec: 1
pools:
  fast: {platform: dgx-h200, nodes: 6}
  wide: {platform: dgx-h100, nodes: 4}
pool_links: [{between: [fast, wide], bandwidth: 1.6 Tb/s}]
jobs:
  chat:
    pool: fast
    nodes: 4
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {replicas: 4, tp: 8}, decode: {pool: wide, replicas: 4, tp: 8}}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import (
    Fleet,
    Job,
    engines_at_home,
    nodes_of_layout,
    nodes_of_separate_roles,
    nodes_path,
    stated_nodes,
)
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(fleet: Fleet) -> Iterator[Problem]:
    for name, job in fleet.jobs.items():
        inner = nodes_of_layout(job.spec)
        if job.spec.nodes is not None and inner is not None and inner != job.spec.nodes:
            separate = nodes_of_separate_roles(job.spec)
            which = "its layout and rollout" if separate else "its layout"
            message = f"job `{name}` has {plural(job.spec.nodes, 'node')} and {which} {plural(inner, 'node')}"
            yield RULE.problem(("jobs", name, "layout", "nodes"), message, "keep one of the two keys")
        yield from _engine_problems(fleet, job)
    for pool in fleet.pools.values():
        for each in pool.sets:
            for name in each.jobs if each.path is None else ():
                own = stated_nodes(fleet.jobs[name].spec)
                if own is not None and own != each.nodes:
                    message = f"job `{name}` uses {plural(own, 'node')} of the {each.nodes} that it shares with other jobs in turn"
                    yield RULE.problem(nodes_path(fleet, name), message, "state the number once", severity="note")


def _engine_problems(fleet: Fleet, job: Job) -> Iterator[Problem]:
    """The problem of a job whose engines on its own pool need more nodes than the job states; its other engines run on
    another pool.
    """
    pool, own = fleet.pools.get(job.spec.pool or ""), stated_nodes(job.spec)
    home = engines_at_home(job.spec, pool.cluster.ranks_per_node if pool and pool.cluster else None)
    if pool is not None and home is not None and own is not None and home[1] > own:
        side, taken = home
        message = (
            f"job `{job.name}` has {plural(own, 'node')} of pool `{pool.name}`, but its {side} engines take {taken}"
        )
        yield RULE.problem(nodes_path(fleet, job.name), message, "give it these nodes, or state fewer `replicas`")
