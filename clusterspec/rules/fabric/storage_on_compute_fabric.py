"""Storage or frontend traffic shares the scale-out fabric.

## What it finds

`networks.storage` or `networks.frontend` with `shares: scale_out`. The finding is a warning where the storage system
can take more than a quarter of the send rate of all NICs, and a note otherwise: on large machines, storage traffic of
one percent of the fabric's bandwidth delays collectives little.

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

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworkSpec, NetworksSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning")
LARGE = 0.25
"""A storage system that writes at this share of the send rate of all NICs or above delays collectives noticeably."""


def check(networks: NetworksSpec, cluster: Cluster) -> Iterator[Problem]:
    for name, network in (("storage", networks.storage), ("frontend", networks.frontend)):
        if network is not None and network.shares == "scale_out":
            taken = _share(network, cluster)
            part = "" if taken is None else f", of whose bandwidth it can take {percent(taken, 2)}"
            yield RULE.problem(
                f"cluster.networks.{name}.shares",
                f"{name} traffic shares the scale-out fabric{part}: collectives wait for it",
                "use a separate network, or a limited traffic class",
                severity="warning" if taken is not None and taken > LARGE else "note",
            )


def _share(network: NetworkSpec, cluster: Cluster) -> float | None:
    """Bandwidth of the network over the bandwidth of all NICs; None if either is not known."""
    if network.bandwidth is None or not cluster.nic_share:
        return None
    return network.bandwidth.per_direction / (cluster.nic_share * cluster.accelerators)
