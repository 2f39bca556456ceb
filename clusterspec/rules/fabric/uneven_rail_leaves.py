"""The number of leaves is not a multiple of the rails.

## What it finds

A rail topology with stated `leaf_switches` that are not a multiple of the rails (times the planes), nor a divisor of
them. A divisor is accepted: each of two leaves can carry four of eight rails.

## Why it matters

Each rail has its own leaves. With 12 leaves for 8 rails, four rails have twice the ports of the others, and the job
runs at the bandwidth of the smaller ones.

## What to do

Use a multiple of the rails, or on a small machine a divisor.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.leaf_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 40
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 18}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 40
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 2}
```

## Sources

- Rails with unequal switches: https://github.com/NVIDIA/nccl/issues/820 https://github.com/NVIDIA/nccl/issues/1600
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import near_multiples
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "warning", yields_to=("too-few-switches",))


def check(counts: FabricCount, written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    leaves, step = written_scale_out.leaf_switches, scale_out.rails * scale_out.planes
    if counts.fabric is not None and leaves == counts.fabric.leaf_switches:
        return  # as many as the endpoints need, where rails share leaves or extra endpoints have leaves of their own
    if scale_out.topology in {"rail-optimized", "rail-only"} and leaves and leaves % step and step % leaves:
        planes = f" in {scale_out.planes} planes" if scale_out.planes > 1 else ""
        message = f"{leaves:,} leaves are not a multiple of {scale_out.rails} rails{planes}, nor a divisor: some rails have fewer ports than others"
        more = next((number for number in range(leaves, step) if step % number == 0), step)
        even = near_multiples(leaves, step) if leaves > step else [more]
        help_ = "write " + or_list(even)
        yield RULE.problem("cluster.scale_out.leaf_switches", message, help_)
