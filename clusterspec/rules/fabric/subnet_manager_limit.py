"""The subnet manager is missing, or cannot manage the size of the fabric.

## What it finds

InfiniBand with a stated switch, where

- the switch is externally managed, and the spec has neither `extra_endpoints` nor `subnet_manager: host` (a warning; an error
  where it states `extra_endpoints: 0`, or where the NICs take every leaf port)
- `subnet_manager: switch`, and the NICs of one plane exceed the limit of the manager on the switch (an error)
- `subnet_manager: switch` and `in_network_reduction: true` (an error)
- the NICs and switches of one plane need more than the 49,151 unicast LIDs of a subnet (an error)

## Why it matters

An InfiniBand fabric carries nothing before a subnet manager has assigned addresses and routes. Externally managed
switches cannot run it. The manager on a Quantum-2 switch supports 2,048 nodes; larger fabrics need OpenSM or UFM on a
host. Reductions in the switches (SHARP) need a host as well: the aggregation manager runs with a subnet manager on a
server.

Packets inside a subnet are addressed by LIDs of 16 bits, of which 0x0001 to 0xBFFF are unicast: one for each port of a NIC,
and one for each switch.

## What to do

Run the manager on two hosts, and count their ports under `extra_endpoints`; state `subnet_manager: host`. Divide a
fabric with too many ports into planes, or into subnets with routers between them.

## When to ignore it

Ignore it where another switch of the fabric is managed.

## Fires

```yaml cluster.scale_out.switch
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: rail-optimized}
```

```yaml cluster.scale_out.subnet_manager
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 400
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, subnet_manager: switch}
```

```yaml cluster.scale_out.subnet_manager
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    in_network_reduction: true
    subnet_manager: switch
```

```yaml cluster.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 6000
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: fat-tree, subnet_manager: host, extra_endpoints: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: rail-optimized, subnet_manager: host, extra_endpoints: 2}
```

## Sources

- Ranges of LIDs: https://www.oreilly.com/library/view/infiniband-network-architecture/0321117654/
- 2,048 nodes on the switch, more with UFM: https://docs.nvidia.com/networking/display/qm97x0pub/software+management
- SHARP with UFM or a dedicated server, the manager on the switches disabled: https://docs.nvidia.com/networking/display/sharpv3110/general+information
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "warning")
UNICAST_LIDS = 0xBFFF
"""Unicast local identifiers of a subnet: 0x0001 to 0xBFFF (InfiniBand architecture, volume 1)."""
HELP = "run it on two hosts (OpenSM, UFM): `subnet_manager: host`, with their ports under `extra_endpoints`"


def check(
    counts: FabricCount, written_scale_out: ScaleOutSpec, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    switch, stated = scale_out.switch, written_scale_out.subnet_manager
    if scale_out.technology.family != "infiniband" or switch is None or not written_scale_out.switch:
        return
    ends = cluster.all_nodes * scale_out.nics_per_node
    limit, identifiers = switch.subnet_manager_nodes, _identifier_count(counts, ends + scale_out.extra_endpoints)
    if identifiers > UNICAST_LIDS and scale_out.topology != "rail-only":
        message = (
            f"the NICs and switches of a plane need {identifiers:,} unicast LIDs, but one subnet has {UNICAST_LIDS:,}"
        )
        help_ = "divide the fabric into planes, or into subnets with routers between them"
        yield RULE.problem("cluster.nodes", message, help_, severity="error")
    if switch.managed is False and stated is None and not scale_out.extra_endpoints:
        message = f"{switch.id} is externally managed, but the spec names no host for the subnet manager"
        no_port_is_left = written_scale_out.extra_endpoints == 0 or _takes_every_port(counts, ends)
        yield RULE.problem(
            "cluster.scale_out.switch", message, HELP, severity="error" if no_port_is_left else "warning"
        )
    elif limit is not None and ends > limit and stated == "switch":
        message = f"the fabric has {ends:,} NICs, but the subnet manager on {switch.id} supports {limit:,} nodes"
        yield RULE.problem("cluster.scale_out.subnet_manager", message, HELP, severity="error")
    elif stated == "switch" and written_scale_out.in_network_reduction:
        message = "in-network reduction needs a subnet manager on a host, but this one runs on the switch"
        yield RULE.problem("cluster.scale_out.subnet_manager", message, HELP, severity="error")


def _identifier_count(counts: FabricCount, ports: int) -> int:
    """LIDs of one plane: one for each port of a NIC, and one for each switch."""
    fabric = counts.fabric
    switches = fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric is not None else 0
    return ports + (switches // fabric.planes if fabric is not None else 0)


def _takes_every_port(counts: FabricCount, ends: int) -> bool:
    fabric = counts.fabric
    return (
        fabric is not None and fabric.tiers <= 2 and fabric.leaf_switches // fabric.planes * fabric.down_ports == ends
    )
