"""A node of several accelerators has one NIC, on one CPU socket.

## What it finds

More than one node, four or more accelerators in each, and a single NIC, where `host.numa_nodes` is not 1.

## Why it matters

Such nodes have two sockets (NUMA domains), each with half of the accelerators. The other half reaches the NIC through
the link between the sockets, where GPUDirect RDMA drops to 3 to 6 GB/s or does not work.

## What to do

Use at least one NIC per socket, under the same PCIe switch as its accelerators.

## When to ignore it

Ignore it for single-socket nodes, and where the NIC is attached to both sockets (multi-host or socket-direct cards).

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: roce-v2, nics_per_node: 1, nic_bandwidth: 200 Gb/s, flow_control: {pfc: true, ecn: true}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 200 Gb/s, flow_control: {pfc: true, ecn: true}}
```

## Sources

- Traffic through the link between sockets: https://github.com/NVIDIA/nccl/issues/489
- 3 to 6 GB/s seen: https://github.com/NVIDIA/nccl/issues/595
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "note", "heuristic", yields_to=("fewer-nics-than-instance",))
TWO_SOCKETS = 4
"""At this many accelerators per node or more, servers usually have two CPU sockets."""


def check(cluster: Cluster, scale_out: ScaleOut, written_cluster: ClusterSpec | None) -> Iterator[Problem]:
    one_socket = (
        written_cluster is not None and written_cluster.host is not None and written_cluster.host.numa_nodes == 1
    )
    on_one_host = cluster.scale_up.topology != "torus" and not cluster.cloud and not one_socket
    if (
        cluster.nodes > 1
        and scale_out.nics_per_node == 1
        and cluster.accelerators_per_node >= TWO_SOCKETS
        and on_one_host
    ):
        half = cluster.accelerators_per_node // 2
        message = f"with one NIC per node, about {half} of {cluster.accelerators_per_node} accelerators reach it through the link between CPU sockets"
        yield RULE.problem(
            "cluster.scale_out.nics_per_node",
            message,
            "use one NIC per socket, under the PCIe switch of its accelerators",
        )
