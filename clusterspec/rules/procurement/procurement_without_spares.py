"""The procurement has no spare nodes.

## What it finds

`procurement` with `spare_nodes: 0`: a warning. It is a note

- where the key is absent,
- below 16 nodes, where one spare is a large part of the machine,
- for serving, where the other engines continue,
- where the job leaves a node idle that can take over,
- where `operations.repair_time` or the response of the support is a day or less.

The rule is silent for clouds and rents, whose providers replace nodes themselves.

## Why it matters

The first node that fails stops a training job, or its serving engines, until it is repaired, a day or a week later.

## What to do

Add 5 to 10 % of spare nodes on the same spine.

## When to ignore it

Ignore it where a contract replaces nodes within hours.

## Fires

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Sources

- Spares: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/fault-tolerance/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import is_bought
from clusterspec.rules.knowledge.spares import advice_to_add
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, OperationsSpec, ProcurementSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "warning", "heuristic")
DAY = 24 * 3600.0
MANY = 16
"""Smallest number of nodes at which spares are usual."""


def check(
    procurement: ProcurementSpec,
    written_cluster: ClusterSpec,
    cluster: Cluster,
    workload: Workload | None,
    layout: Layout | None,
    operations: OperationsSpec | None,
) -> Iterator[Problem]:
    if cluster.spare_nodes == 0 and is_bought(procurement, cluster) and cluster.nodes > 1:
        few, many = -(-cluster.nodes * 5 // 100), -(-cluster.nodes // 10)
        serves = workload is not None and workload.kind == "serve"
        effect = "stops its engines" if serves else "stops the job"
        message = f"{cluster.nodes:,} nodes are bought without a spare: a failure {effect} until the repair"
        repair = operations.repair_time if operations is not None else None
        response = procurement.support.response if procurement.support is not None else None
        soon = any(time is not None and time.value <= DAY for time in (repair, response))
        stated, idle = written_cluster.spare_nodes is not None, cluster.nodes - _used_nodes(cluster, workload, layout)
        severity = "warning" if stated and not (serves or idle or soon) and cluster.nodes >= MANY else "note"
        add = advice_to_add(few, many, cluster, written_cluster, procurement)
        if idle > 0:
            message = f"{cluster.nodes:,} nodes are bought without a spare: {_idle_text(idle)} can take over"
            add = f"keep them free, or {add}"
        yield RULE.problem("cluster.spare_nodes", message, add, severity=severity)


def _used_nodes(cluster: Cluster, workload: Workload | None, layout: Layout | None) -> int:
    """Number of nodes that work: of the layout, or of all roles of reinforcement learning."""
    if layout is None:
        return cluster.nodes
    return workload.rl.nodes if workload is not None and workload.rl is not None else layout.nodes


def _idle_text(idle: int) -> str:
    """The nodes without work, as the subject of a sentence."""
    return f"only {plural(idle, 'node')} that the job leaves idle"
