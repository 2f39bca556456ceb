"""The NICs of a node do not divide evenly over its accelerators.

## What it finds

Neither of `nics_per_node` and `accelerators_per_node` divides the other: six NICs for eight accelerators. The finding
is a warning. With more NICs than accelerators it is a warning with a platform, since ten for eight usually count those
of the storage network, and a note without one. The rule is silent where the platform is sold with these NICs, and where
cages join all network ports that the accelerators have built in: six cages of 800 Gb/s join the 24 ports of eight
Gaudi 3.

## Why it matters

Some accelerators share a NIC and others do not. A collective runs at the pace of the slowest rank, so six NICs are no
faster than four, and the rails of the fabric cannot be cabled evenly.

## What to do

Use 1:1, 1:2 or 2:1.

## When to ignore it

Do not ignore it. If the additional NICs serve storage, declare them under `networks.storage`.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 6}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}
```

## Sources

- NIC selection with uneven counts in NCCL: https://github.com/NVIDIA/nccl/issues/897
- Sharing and its cost: https://github.com/NVIDIA/nccl/issues/820
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", yields_to=("frontend-counted-in-fabric",))
SAME = 0.01
"""Relative difference of two rates up to which they are the same."""


def check(cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    nics, accelerators = scale_out.nics_per_node, cluster.accelerators_per_node
    if nics <= 0 or nics % accelerators == 0 or accelerators % nics == 0:
        return
    if cluster.platform is not None and cluster.platform.nics_per_node == nics:
        return
    if cluster.has_built_in_nics and scale_out.node_bandwidth >= (1 - SAME) * cluster.built_in_bandwidth:
        return  # cages that join the ports of several accelerators
    most = -(-accelerators // nics)
    pairing = (
        f"some NICs serve {most} accelerators and others fewer"
        if nics < accelerators
        else "some accelerators have more NICs than others"
    )
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"{nics} NICs for {accelerators} accelerators: {pairing}, and all run at the pace of the slowest",
        "use a number of NICs that divides the accelerators, or a multiple of them",
        severity="note" if nics > accelerators and cluster.platform is None else "warning",
    )
