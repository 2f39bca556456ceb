"""The host sends traffic between accelerators and NICs through the processor or the other socket.

## What it finds

`host.acs: true` on machines that are not cloud instances, or `host.nic_affinity: false`, where a node has several
accelerators or the job spans nodes, unless it serves with engines of one accelerator, between which nothing passes.

## Why it matters

With ACS on, PCIe switches send every peer-to-peer packet up to the processor: two accelerators, or an accelerator and
the NIC of the same switch, share its link. Without affinity, half of the traffic crosses the link between the sockets. Users saw
a fraction of the NICs' line rate: jobs start, but run slowly.

## What to do

Switch ACS off in the firmware or with `setpci` on every PCIe switch, and let each process use the NIC of its own PCIe
switch.

## When to ignore it

Ignore it in virtual machines that need ACS for isolation.

## Fix safety

The fix is unsafe: it writes `false`. The machine must be configured accordingly.

## Fires

```yaml cluster.host.acs
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4, host: {numa_nodes: 2, acs: true}}
```

```yaml cluster.host.nic_affinity
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4, host: {numa_nodes: 2, nic_affinity: false}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4, host: {numa_nodes: 2, nic_affinity: true, acs: false}}
```

## Sources

- Low bandwidth with ACS: https://github.com/NVIDIA/nccl/issues/489
- A node of eight NICs through the host: https://github.com/NVIDIA/nccl/issues/1412
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(
    written_cluster: ClusterSpec, cluster: Cluster, layout: Layout | None, workload: Workload | None
) -> Iterator[Problem]:
    host = written_cluster.host
    if host is None or cluster.accelerators < 2 or _is_of_single_accelerators(layout, workload):
        return
    if host.acs and not cluster.cloud:
        at = "cluster.host.acs"
        message = f"with ACS on, transfers between the {cluster.accelerators_per_node} accelerators and the NICs of a node cross the processor"
        help_ = "switch ACS off on every PCIe switch, and write `acs: false`"
        yield RULE.problem(at, message, help_, fix=value_fix(at, "false"))
    if host.nic_affinity is False and cluster.nodes > 1 and host.numa_nodes != 1:
        message = "accelerators use NICs of other PCIe switches and of the other socket, and share the link between the sockets"
        help_ = "let each process use the NIC of its own PCIe switch, and write `nic_affinity: true`"
        yield RULE.problem("cluster.host.nic_affinity", message, help_)


def _is_of_single_accelerators(layout: Layout | None, workload: Workload | None) -> bool:
    """Whether the machine serves with single-accelerator engines, which pass no caches to each other."""
    serving = workload.serving if workload is not None else None
    if layout is None or serving is None or serving.prefill is not None:
        return False
    return layout.tp * layout.pp * layout.ep * layout.attention_dp == 1
