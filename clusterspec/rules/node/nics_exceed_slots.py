"""A node has more NICs than its platform has slots for.

## What it finds

On machines that are not cloud instances, `nics_per_node` above the NICs of the platform, fabric and frontend together,
with more bandwidth than those NICs have: a warning, and an error at twice as many. Where the platform states no NICs,
the rule compares with the usual NICs of servers with these accelerators, at least one for each accelerator.

## Why it matters

Each NIC at full rate needs a PCIe x16 slot and, for GPUDirect RDMA, a PCIe switch shared with an accelerator. HGX boards
have eight such slots, and servers add two to four. NICs that do not fit still count in the bill, in the switch ports
and in the predicted bandwidth.

## What to do

State the NICs that the server takes. Ports are not NICs: a card with two ports of 200 Gb/s is one NIC of 400 Gb/s, or
two of 200 Gb/s.

## When to ignore it

Ignore it for servers with expansion chassis; name them in the reason of the waiver.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 16, scale_out: {nics_per_node: 16, nic_bandwidth: 400 Gb/s}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 16, scale_out: {nics_per_node: 16, nic_bandwidth: 200 Gb/s}}
```

## Sources

- Slots and PCIe switches of a DGX H100: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "warning", "likely", yields_to=("frontend-counted-in-fabric",))
FRONTEND = 2
"""Number of frontend and storage NICs assumed for a server whose catalog entry states none."""
LARGER = 1.05
"""Ratio of the stated NICs' bandwidth to the platform's above which they are not the same ports."""


def check(
    platform: Platform | None, written_scale_out: ScaleOutSpec, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    if written_scale_out.nics_per_node is None:
        return  # an assumed number is none to correct
    part, stated = cluster.accelerator, scale_out.nics_per_node
    sold = platform.nics_per_node if platform else None
    slots = sold or int(cluster.accelerators_per_node * max(1, part.nics_per_accelerator or 1))
    rate = (platform.nic_bandwidth if platform else None) or part.nic_bandwidth
    frontend = (platform.frontend_nics if platform else None) or FRONTEND
    if cluster.cloud or rate is None or stated <= slots + frontend or cluster.scale_up.topology == "torus":
        return
    if stated * scale_out.nic_bandwidth.value <= LARGER * slots * rate.value:
        return
    whose = (
        f"{platform.name} has" if platform and sold else f"a node of {cluster.accelerators_per_node} {part.name} has"
    )
    message = f"{stated} NICs of {display_bits(scale_out.nic_bandwidth.value)} in a node: {whose} slots for {slots} of {display_bits(rate.value)}"
    severity = "error" if stated >= 2 * slots else "warning"
    yield RULE.problem("cluster.scale_out.nics_per_node", message, f"use at most {slots}", severity=severity)
