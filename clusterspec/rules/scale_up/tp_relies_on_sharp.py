"""Tensor parallelism crosses domains and relies on in-network reduction.

## What it finds

A tp beyond the scale-up domain on an InfiniBand fabric with `in_network_reduction: true`.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step. It is a warning where the time is
not known.

## Why it matters

SHARP removes at most half of the traffic of an all-reduce. The scale-up bandwidth of a GPU is 9 times (H100) to 18
times (B200) that of its NIC, so tensor parallelism across nodes is still slower. The message gives the predicted step
time with and without groups that cross domains.

## What to do

Keep tp within the domain.

## When to ignore it

Ignore it where the layout was measured on this fabric with the SHARP plugin (`nccl-rdma-sharp`).

## Fires

```yaml layout.tp
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, in_network_reduction: true, collective_plugin: nccl-rdma-sharp}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 16, pp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, in_network_reduction: true, collective_plugin: nccl-rdma-sharp}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, pp: 2}
```

## Sources

- Cross-node tensor parallelism discussed: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/model-parallelism/README.md
- In-network reduction at (n + 1) instead of 2n sends: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L566
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.advice.domain_layouts import fastest_within_domain
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.domains import bandwidth_across, exceeds_domain
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")


def check(
    deviations: Deviations,
    placements: Placements,
    cluster: Cluster,
    layout: Layout,
    scale_out: ScaleOut,
    what_if: WhatIf,
) -> Iterator[Problem]:
    placement = placements.of("tp")
    if not exceeds_domain(cluster, layout) or not scale_out.in_network_reduction or placement is None:
        return
    best = fastest_within_domain(what_if, cluster, layout)
    message = (
        f"tp {layout.tp} crosses domains and relies on in-network reduction, which removes at most half of the traffic"
        f"{bandwidth_across(deviations, cluster, placement, 'all-reduce')}{what_if.comparison(best)}"
    )
    yield RULE.problem(
        "layout.tp",
        message,
        f"use tp of at most {cluster.ranks_per_domain}",
        severity=what_if.severity(what_if.saved_share(best) if best else None, "warning"),
    )
