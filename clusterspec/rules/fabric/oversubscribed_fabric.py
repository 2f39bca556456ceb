"""The collectives of the job cross an oversubscribed level of the fabric.

## What it finds

Training on more nodes than one full-bandwidth block holds, where the oversubscription ratios of the levels that the job
crosses multiply to more than 1. The rule considers `levels`, `pod_nodes` and `layout.nodes`; without them it uses the
leaf's ratio.

## Why it matters

Where all accelerators send across the level at once, each gets 1/ratio of the bandwidth: at 4:1, 12.5 GB/s of the 50
GB/s of its NIC. Each rank of an all-to-all of n ranks sends n − b of n parts out of its block of b ranks. A ring in the
order of the nodes leaves each block once: with k nodes in a block, a ratio up to k does not slow it. The message gives
the predicted step time at this ratio and at 1:1, for ranks placed in this order. The finding is a note where the
oversubscription costs less of the step than the half-width of the range of that difference, a warning above it and
where the time is not known, and an error if at least a quarter of the step is lost even at the low end of the range.

## What to do

Build 1:1 within the job, or keep the job within a pod.

## When to ignore it

Ignore it where only pipeline stages or gradients cross the oversubscribed level. Meta runs 7:1 above pods of 3,072
accelerators, with placement by topology.

## Fires

```yaml cluster.scale_out.oversubscription
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {switch: quantum-2-qm9700, technology: infiniband-ndr, topology: fat-tree, oversubscription: 3:1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: 3:1, pod_nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

## Sources

- Meta's fabrics: https://glennklockwood.com/garden/systems/meta's-h100-clusters
- What it does to collectives: https://github.com/NVIDIA/nccl-tests/issues/169
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import crossed_levels, oversubscription_key
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning")


def check(
    oversubscription: float,
    deviations: Deviations,
    job_nodes: int,
    training: Workload,
    cluster: Cluster,
    what_if: WhatIf,
) -> Iterator[Problem]:
    ratio, nodes, share = oversubscription, job_nodes, cluster.nic_bandwidth_per_accelerator
    if cluster.nodes < 2 or share is None or ratio <= 1 or cluster.accelerators <= cluster.scale_up.domain:
        return
    named = and_list(level.name for level in crossed_levels(cluster, job_nodes) if level.oversubscription > 1)
    saved, times = what_if.at_full_bandwidth
    rates = f": {display(share / ratio, 'B/s')} per accelerator instead of {display(share, 'B/s')} when all send across them at once"
    yield RULE.problem(
        oversubscription_key(cluster),
        f"a job of {nodes:,} nodes crosses {named} uplinks that are oversubscribed {plain(ratio)}:1"
        + ("" if deviations.has_any_of("nic") else rates)
        + times,
        "build 1:1 within the job, or keep the job within one full-bandwidth block",
        severity=what_if.severity(saved, "warning"),
    )
