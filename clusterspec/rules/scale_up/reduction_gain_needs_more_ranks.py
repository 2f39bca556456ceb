"""The group is too small for in-network reduction to help.

## What it finds

A stated in-network reduction of the scale-up domain, and tensor-parallel groups too small for the library to use it: 2
to 4 ranks on NVLink 4, up to 5 on NVLink 5 (`clusterspec catalog show nvlink-5`).

## Why it matters

In-network reduction sends n + 1 chunks where a ring sends 2 (n − 1). With 4 ranks that is 5 instead of 6 chunks, and
the lower rate of the switch outweighs the difference. NCCL uses it for 5 or 6 of 8 GPUs and more.

## What to do

Plan with the bandwidth of a ring.

## When to ignore it

Ignore it when the plan does not rely on the gain.

## Fires

```yaml cluster.scale_up.in_network_reduction
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1, scale_up: {in_network_reduction: true}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1, scale_up: {in_network_reduction: true}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8}
```

## Sources

- From how many GPUs on NVLS pays: https://github.com/NVIDIA/nccl/issues/1455
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.collectives.paths import minimum_reduced_ranks
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "note", "likely")


def check(written_scale_up: ScaleUpSpec, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    """Problems of a stated in-network reduction; a plan does not depend on the default."""
    entry = cluster.scale_up.interconnect
    if not written_scale_up.in_network_reduction or entry is None or not entry.in_network_reduction:
        return
    least = minimum_reduced_ranks(entry).value
    if 1 < layout.tp < least:
        message = f"tp {layout.tp} is too small a group for in-network reduction, which helps from {least:g} ranks on"
        yield RULE.problem("cluster.scale_up.in_network_reduction", message, "plan with the bandwidth of a ring")
