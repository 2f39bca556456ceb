"""The job's collectives cross an oversubscribed level.

## What it finds

Training on more nodes than one full-bandwidth block holds, where the ratios of the levels crossed multiply to more than 1. `levels`,
`pod_nodes` and `layout.nodes` are honoured; without them the ratio is the leaf's.

## Why it matters

What crosses the level runs at 1/ratio: at 4:1, 12.5 GB/s an accelerator of the 50 that its NIC has. The finding gives the predicted
step with and without, and is an error where that costs a quarter of it.

## What to do

1:1 within the job, or a job within a pod.

## When to ignore it

Where only pipeline stages or rare gradients cross it: Meta runs 7:1 above pods of 3,072, with placement that knows.

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
from clusterspec.quantity import Quantity
from clusterspec.rules.advice.what_if import A_QUARTER, NOTICEABLE
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.counts import crossed, oversubscription, oversubscription_key
from clusterspec.rules.knowledge.failures import job_nodes
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.units import percent, plain, say

RULE = Rule.of(__name__, "warning")
FULL = (Quantity(1.0, "1", "1:1"),)


def check(facts: Facts, training: Workload, cluster: Cluster) -> Iterator[Problem]:
    ratio, nodes, share = oversubscription(facts), job_nodes(facts), cluster.nic_share
    if cluster.nodes < 2 or share is None or ratio <= 1 or cluster.accelerators <= cluster.scale_up.domain:
        return
    named = both(level.name for level in crossed(facts) if level.oversubscription > 1)
    loss = _loss(facts)
    times = f"; {loss[1]}" if loss else ""
    yield RULE.problem(
        oversubscription_key(cluster),
        f"a job of {nodes:,} nodes crosses {plain(ratio)}:1 above the {named}: {say(share / ratio, 'B/s')} an accelerator when all send, "
        f"not {say(share, 'B/s')}{times}",
        "1:1 within the job, or a job within one full-bandwidth block",
        severity="error" if loss and loss[0] >= A_QUARTER else "warning",
    )


def _loss(facts: Facts) -> tuple[float, str] | None:
    """What a full-bandwidth fabric would save of the step, where it is noticeable."""
    now, full = facts.step_time, facts.with_scale_out(oversubscription=FULL, levels=None)
    if not now or full is None or full.step_time is None:
        return None
    saved = 1 - full.step_time.value / now
    words = f"predicted {say(now, 's')} a step, {say(full.step_time.value, 's')} at 1:1 ({percent(saved, 2)} less)"
    return (saved, words) if saved > NOTICEABLE else None
