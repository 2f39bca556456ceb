"""Storage or frontend traffic shares the scale-out fabric.

## What it finds

`networks.storage` or `networks.frontend` with `shares: scale_out`. The finding is a warning where the storage system
can take more than a quarter of the send rate of all NICs, and a note otherwise: on large machines, storage traffic of
one percent of the fabric's bandwidth delays collectives little. It is an error where the `extra_endpoints` of the
fabric are stated, and their ports carry less than the `bandwidth` or `read` of the storage system.

## Why it matters

A checkpoint fills every link for seconds, and collectives wait. A delay on one rank delays all.

## What to do

Use separate NICs and switches, or a separate traffic class with a limit.

## When to ignore it

Ignore it where a traffic class for storage is configured and tested; name it in the reason of the waiver.

## Fires

```yaml cluster.networks.storage.shares
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 400 GB/s, shares: scale_out}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

```yaml cluster.scale_out.extra_endpoints
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 60
  scale_out: {technology: infiniband-ndr, topology: rail-optimized, switch: quantum-2-qm9700, extra_endpoints: 4}
  networks:
    storage: {shares: scale_out, bandwidth: 400 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, shares: frontend}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

## Sources

- Networks of a node: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L96
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworkSpec, NetworksSpec, ScaleOutSpec
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning")
ROUNDED = 0.02
"""Relative difference allowed for a rounded rate."""
LARGE = 0.25
"""Smallest share of the send rate of all NICs at which storage writes noticeably delay collectives."""


def check(
    networks: NetworksSpec, cluster: Cluster, written_scale_out: ScaleOutSpec | None, scale_out: ScaleOut | None
) -> Iterator[Problem]:
    if networks.storage is not None and written_scale_out is not None and scale_out is not None:
        narrow = _port_problem(networks.storage, written_scale_out, scale_out)
        if narrow is not None:
            yield narrow
            return
    for name, network in (("storage", networks.storage), ("frontend", networks.frontend)):
        if network is not None and network.shares == "scale_out":
            taken = _share_of_nics(network, cluster)
            part = "" if taken is None else f", and can take {percent(taken, 2)} of its bandwidth"
            yield RULE.problem(
                f"cluster.networks.{name}.shares",
                f"{name} traffic shares the scale-out fabric{part}: collectives wait for it",
                "use a separate network, or a limited traffic class",
                severity="warning" if taken is not None and taken > LARGE else "note",
            )


def _port_problem(storage: NetworkSpec, written: ScaleOutSpec, scale_out: ScaleOut) -> Problem | None:
    """The problem of a storage system on too few fabric ports for its rate; None without such a problem."""
    ports = written.extra_endpoints
    rate = max((each.per_direction for each in (storage.bandwidth, storage.read) if each is not None), default=0.0)
    if storage.shares != "scale_out" or not ports or rate <= 0:
        return None
    carried = ports * scale_out.nic_bandwidth.value
    if carried >= (1 - ROUNDED) * rate:
        return None
    message = f"the storage system is to reach {display(rate, 'B/s')}, but the {plural(ports, 'extra endpoint')} of the fabric {'carries' if ports == 1 else 'carry'} {display(carried, 'B/s')}"
    help_ = f"plan {-(-rate // scale_out.nic_bandwidth.value):,.0f} extra endpoints, or a network for storage"
    return RULE.problem("cluster.scale_out.extra_endpoints", message, help_, severity="error", confidence="likely")


def _share_of_nics(network: NetworkSpec, cluster: Cluster) -> float | None:
    """The bandwidth of the network divided by that of all NICs; None if either is unknown."""
    if network.bandwidth is None or not cluster.nic_bandwidth_per_accelerator:
        return None
    return network.bandwidth.per_direction / (cluster.nic_bandwidth_per_accelerator * cluster.accelerators)
