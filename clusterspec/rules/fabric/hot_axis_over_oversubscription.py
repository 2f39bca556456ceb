"""The axes with the most communication cross an oversubscribed level.

## What it finds

A total oversubscription of 2:1 or more, with tensor-parallel groups, expert-parallel groups or fsdp shard groups that
cross the oversubscribed level. The finding is a note where a 1:1 fabric would save less of the step than the half-width
of the range of that difference, a warning above it and where the time is not known, and an error if at least a quarter
of the step is lost even at the low end of the range.

## Why it matters

These axes communicate in every layer. Meta runs 7:1 above its pods, with jobs placed so that only gradients cross it.
Expert groups lose the most: in an all-to-all over two pods half of the tokens cross. Shard groups gather in rings,
which leave each pod once, so that only pods of few nodes slow them.

## What to do

Confine the axis to a pod, by a smaller group or by hsdp with shard groups in the pod.

## When to ignore it

Ignore it where the estimate shows little exposed communication.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: 8:1, pod_nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: 8:1, pod_nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 1, sharding: hsdp, shard_group: 16, recompute: full}
```

## Sources

- Meta's fabrics: https://glennklockwood.com/garden/systems/meta's-h100-clusters
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.fabric_parts import crossed_levels
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import changed_keys
from clusterspec.units import plain

RULE = Rule.of(__name__, "warning", "likely")
LEAST = 2.0


def check(placements: Placements, training: Workload, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    shards = layout.sharding in {"fsdp", "hsdp"}
    axes = (
        ("tp", "layout.tp", layout.tp > 1),
        ("ep", "layout.ep", layout.ep > 1),
        ("shard", "layout.sharding", shards),
    )
    for axis, at, used in axes:
        if not used:
            continue
        placement, ratio = placements.of(axis), placements.oversubscription(axis)
        if placement is not None and ratio >= LEAST:
            message = f"{axis} groups of {placement.ranks:,} ranks cross a level oversubscribed {plain(ratio)}:1 in every layer"
            saved, times = what_if.at_full_bandwidth
            groups = _groups_of_a_block(what_if, layout) if axis == "shard" else ""
            help_ = f"confine the axis to a full-bandwidth block{groups}"
            yield RULE.problem(at, message + times, help_, severity=what_if.severity(saved, "warning"))


def _groups_of_a_block(what_if: WhatIf, layout: Layout) -> str:
    """Text with hsdp shard groups that stay within one full-bandwidth block, if they are legal and fit in memory; else
    empty.
    """
    cluster = what_if.design.cluster
    if cluster is None or not what_if.advises:
        return ""
    crossed = (each for each in crossed_levels(cluster, layout.nodes) if each.oversubscription >= LEAST)
    nodes = next((each.nodes for each in crossed), None)
    group = (nodes or 0) * cluster.ranks_per_node // (layout.tp * layout.pp)
    if group < LEAST or layout.dp * layout.cp % group:
        return ""
    changes = {"sharding": "hsdp", "shard_group": group}
    found = what_if.estimated_alternatives([changes])
    return f": `{changed_keys(changes)}`" if found and found[0].fits_in_memory else ""
