"""Nodes use every leaf port, so the subnet manager has none.

## What it finds

InfiniBand with a stated switch (or its ports, or the number of leaves), where the down ports of all leaves equal the
nodes × NICs exactly, and no `extra_endpoints`. The finding is an error for switches without a subnet manager of their
own, and a note where it is not known which switch is used, or where `subnet_manager: host` is stated: a node of the
cluster may be that host. The rule is silent for managed switches (see
`subnet-manager-limit`), for those with a management port of their own (Quantum-X800 Q3400), and in fabrics of three
tiers, which have free ports higher up.

## Why it matters

InfiniBand needs a subnet manager, which uses a port. For that reason Imbue ran 511 of 512 nodes, and the DGX SuperPOD
has 127 nodes where 128 would fit.

## What to do

Leave the ports of one node free, or add a leaf; declare the manager under `extra_endpoints`.

## When to ignore it

Ignore it where a node of the cluster runs the subnet manager.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: rail-optimized}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 127
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: rail-optimized, extra_endpoints: 4}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized}
```

## Sources

- 511 of 512: https://imbue.com/research/70b-infrastructure/
- A management port in addition to the data ports: https://github.com/netbox-community/devicetype-library/blob/edd51b5700cbdf490e171394ce76e5fb3c6ede08/device-types/Nvidia/Q3400-RA.yaml
- 127 of 128: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/dgx-superpod-components.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")


def check(
    counts: FabricCount, written_scale_out: ScaleOutSpec | None, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    fabric = counts.fabric
    if scale_out.technology.family != "infiniband" or fabric is None or scale_out.levels or scale_out.extra_endpoints:
        return
    if not fabric.fits or not counts.planned or fabric.tiers > 2:
        return  # endpoints-exceed-fabric reports endpoints that do not fit
    switch = scale_out.switch
    if switch is not None and (switch.management_ports or switch.managed):
        return  # subnet-manager-limit reports a fabric too large for the manager of a switch
    if written_scale_out is not None and written_scale_out.subnet_manager == "switch":
        return  # part-lacks-feature reports switches without a processor for it
    written = written_scale_out.leaf_switches if written_scale_out else None
    leaves = (written or fabric.leaf_switches) // fabric.planes
    ends = cluster.all_nodes * scale_out.nics_per_node
    if leaves * fabric.down_ports == ends:
        on_host = written_scale_out is not None and written_scale_out.subnet_manager == "host"
        manager = "a host of the subnet manager" if on_host else "the subnet manager"
        message = f"the {ends:,} NICs take all {fabric.down_ports} down ports of {plural(leaves, 'leaf')}: {manager} has no port"
        yield RULE.problem(
            "cluster.nodes",
            message + (" of its own" if on_host else ""),
            "leave the ports of one node free, or add a leaf, and declare `extra_endpoints`",
            severity="error" if switch is not None and switch.managed is False and not on_host else "note",
        )
