"""Several accelerators share a NIC.

## What it finds

More than one scale-up domain, and fewer NICs than accelerators in a node (packages, not ranks). The rule is silent for
accelerators that share NICs by design (a TPU host has a NIC for four chips). The finding is a warning, and a note where
`nic-starved-accelerators` fires.

## Why it matters

Accelerators that send at the same time share the NICs. With four NICs of 400 Gb/s for eight H100, each accelerator has
25 GB/s instead of 50 GB/s for gradient reductions, all-gathers of fsdp and all-to-alls across nodes.

## What to do

Use one NIC per accelerator, or a layout that sends little between nodes (hsdp, pp).

## When to ignore it

Ignore it where the sharing is planned: instances such as p4d have two accelerators per NIC. Inference inside a node is
not affected.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 1
  scale_out: {nics_per_node: 4}
```

## Sources

- NCCL's maintainers on two GPUs behind one NIC: https://github.com/NVIDIA/nccl/issues/820
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.nics import starved
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "warning", yields_to=("uneven-nics", "fewer-nics-than-instance"))


def check(
    deviations: Deviations, training: Workload | None, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    nics, accelerators = scale_out.nics_per_node, cluster.accelerators_per_node
    by_design = min(1.0, cluster.accelerator.nics_per_accelerator or 1.0)
    if cluster.accelerators <= cluster.scale_up.domain or not 0 < nics < accelerators * by_design:
        return
    share, rate = scale_out.node_bandwidth / accelerators, scale_out.nic_bandwidth.value
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"{accelerators} accelerators share {plural(nics, 'NIC')}: {display(share, 'B/s')} each under full load "
        f"instead of {display(rate, 'B/s')}",
        f"use one NIC per accelerator, or a layout that sends little between nodes ({plain(accelerators / nics)} accelerators share one NIC here)",
        severity="note" if training and starved(cluster, deviations) else "warning",
    )
