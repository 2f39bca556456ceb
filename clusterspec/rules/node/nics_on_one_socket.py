"""All NICs of a node are on one socket, and the design has each accelerator use a NIC of its own.

## What it finds

A text by which all NICs of a node are attached to one socket, riser or PCIe switch, where `host.nic_affinity` is true and a
node has several NUMA domains (`host.numa_nodes`).

## Why it matters

The accelerators of the other socket reach their NIC through the link between the sockets, where GPUDirect RDMA drops to a
fraction of the rate of the port.

## What to do

Move half of the NICs to the other socket, or write `nic_affinity: false` and plan with the lower rate.

## When to ignore it

Ignore it where the cards are attached to both sockets (socket-direct cards).

## Fires

```yaml cluster.host.nic_affinity
clusterspec: 1
description: Refurbished nodes with four HDR HCAs each, all in the risers of the first socket.
cluster:
  platform: hgx-a100
  nodes: 16
  host: {numa_nodes: 2, nic_affinity: true}
  scale_out: {technology: infiniband-hdr, nic: connectx-6, nics_per_node: 4}
```

## Silent

```yaml
clusterspec: 1
description: Refurbished nodes with four HDR HCAs each, two in the risers of each socket.
cluster:
  platform: hgx-a100
  nodes: 16
  host: {numa_nodes: 2, nic_affinity: true}
  scale_out: {technology: infiniband-hdr, nic: connectx-6, nics_per_node: 4}
```

## Sources

- Traffic through the link between sockets: https://github.com/NVIDIA/nccl/issues/489
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NICS = r"(?:hcas?|nics?|host (?:channel )?adapters?|network (?:cards?|adapters?)|connectx-?\d\w*|efas?|netzwerkkarten|cartes réseau)"
_ONE = r"(?:one|the first|the second|a single|the same|cpu ?[01]|socket ?[01]|numa ?(?:node ?)?[0-3])"
_PLACE = r"(?:socket|cpu|processor|numa (?:node|domain)|package)"
_ONE_SOCKET = pattern(
    rf"(?i)\b{_NICS}\b[^.;]{{0,24}}?\ball\b[^.;]{{0,40}}?\b{_ONE}(?: {_PLACE})?\b|\b(?:all|both)\b[^.;]{{0,24}}?\b{_NICS}\b[^.;]{{0,48}}?\b(?:on|to|of|under|behind|at|in|share)\b[^.;]{{0,24}}?\b{_ONE} {_PLACE}\b"
)
_EACH = pattern(r"(?i)\b(?:each|every|both|per) (?:cpu )?(?:sockets?|cpus?|numa)\b|\bsocket-direct\b|\bsingle-socket\b")


def check(written_cluster: ClusterSpec, scale_out: ScaleOut, own_remarks: str | None) -> Iterator[Problem]:
    host = written_cluster.host
    if host is None or not host.nic_affinity or (host.numa_nodes or 0) < 2 or scale_out.nics_per_node < 2:
        return
    found = _ONE_SOCKET.search(own_remarks or "")
    if found is not None and _EACH.search(own_remarks or "") is None:
        message = f"according to the text, all {scale_out.nics_per_node} NICs of a node are on one socket, and `nic_affinity: true` has each accelerator use one of its own socket"
        help_ = "move half of the NICs to the other socket, or write `nic_affinity: false`"
        yield RULE.problem("cluster.host.nic_affinity", message, help_)
