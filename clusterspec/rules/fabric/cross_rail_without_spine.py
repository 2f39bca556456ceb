"""Groups cross rails that no switch connects.

## What it finds

`topology: rail-only` with a tensor- or expert-parallel group that leaves its domain, or a data- or context-parallel
group whose members have different local ranks.

## Why it matters

Without spines, an accelerator of the sender's node forwards traffic to another rail. That uses scale-up bandwidth, in
an all-to-all for seven eighths of the data. NCCL's maintainers call it a significant risk.

## What to do

Use `rail-optimized` (spines connect the rails), or groups that stay on their rail.

## When to ignore it

Ignore it where the extra hop through NVLink (`PXN`) was measured and is acceptable.

## Fires

```yaml cluster.scale_out.topology
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, topology: rail-only}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 8, expert_tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, topology: rail-only}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
layout: {tp: 8}
```

## Sources

- "Significant risk": https://github.com/NVIDIA/nccl/issues/836
- Rail-only for dense models: https://arxiv.org/abs/2307.12169
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both

RULE = Rule.of(__name__, "warning", "likely")


def check(placements: Placements, cluster: Cluster, layout: Layout, scale_out: ScaleOut) -> Iterator[Problem]:
    if scale_out.topology != "rail-only":
        return
    crossing = [f"{axis} {getattr(layout, axis)}" for axis in ("tp", "ep") if _straddles(placements, layout, axis)]
    crossing += [
        f"{axis} {getattr(layout, axis)}" for axis in ("cp", "dp") if _off_rail(placements, cluster, layout, axis)
    ]
    if crossing:
        message = f"groups of {both(crossing)} have members on different rails, and no spine connects the rails"
        yield RULE.problem(
            "cluster.scale_out.topology", message, "use `rail-optimized`, or groups that stay on their rail"
        )


def _straddles(placements: Placements, layout: Layout, axis: str) -> bool:
    placement = placements.of(axis) if getattr(layout, axis) > 1 else None
    return placement is not None and placement.straddling > 0


def _off_rail(placements: Placements, cluster: Cluster, layout: Layout, axis: str) -> bool:
    """Whether members of a group are on different rails. A group that fills its node reduces inside first, so each member uses its own rail."""
    placement = placements.of(axis) if getattr(layout, axis) > 1 else None
    if placement is None or placement.nodes < 2 or placement.rail_aligned:
        return False
    return placement.ranks_per_node > 1 and placement.ranks_per_node * placement.stride != cluster.ranks_per_node
