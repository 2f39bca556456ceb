"""Storage or frontend traffic shares the scale-out fabric.

## What it finds

`networks.storage` or `networks.frontend` with `shares: scale_out`.

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
    storage: {bandwidth: 40 GB/s, shares: scale_out}
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

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec

RULE = Rule.of(__name__, "warning")


def check(networks: NetworksSpec) -> Iterator[Problem]:
    for name, network in (("storage", networks.storage), ("frontend", networks.frontend)):
        if network is not None and network.shares == "scale_out":
            message = f"{name} traffic shares the scale-out fabric: collectives wait for it"
            yield RULE.problem(
                f"cluster.networks.{name}.shares", message, "use a separate network, or a limited traffic class"
            )
