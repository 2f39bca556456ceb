"""Nodes run no engine.

## What it finds

Separate engines for prefill and decode that leave whole nodes without work, where the layout does not state `nodes`: a
warning if they are at least an eighth of the nodes, and a note otherwise.

## Why it matters

The nodes are paid for and idle. The spec states neither that they are spares (`spare_nodes`) nor how many nodes the
layout uses.

## What to do

Add engines, plan fewer nodes, or state the nodes that stand by (`spare_nodes`, `layout.nodes`).

## When to ignore it

Ignore it where the nodes serve another purpose.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 128, disaggregated: {prefill: {replicas: 2, tp: 4}, decode: {replicas: 2, tp: 8}}}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 3}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 128, disaggregated: {prefill: {replicas: 2, tp: 4}, decode: {replicas: 2, tp: 8}}}}
```

## Sources

- Placement of prefill and decode engines: https://arxiv.org/abs/2401.09670
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "warning", "likely")
MUCH = 1 / 8


def check(workload: Workload, cluster: Cluster, written_layout: LayoutSpec | None) -> Iterator[Problem]:
    load = workload.serving
    if load is None or load.prefill is None or load.decode is None:
        return
    if written_layout is not None and (written_layout.nodes or written_layout.nodes_per_domain):
        return
    ranks = sum(each.ranks * each.replicas for each in (load.prefill, load.decode) if each.pool is None)
    used = cluster.nodes_of_ranks(ranks)
    idle = cluster.nodes - used
    if idle < 1:
        return
    share = idle / cluster.nodes
    yield RULE.problem(
        "cluster.nodes",
        f"the engines take {plural(ranks, 'rank')} on {plural(used, 'node')}: {idle:,} of {plural(cluster.nodes, 'node')}, {percent(share, 2)}, run no engine",
        f"add engines, use {plural(used, 'node')}, or state the others as `spare_nodes`",
        severity="" if share >= MUCH else "note",
    )
