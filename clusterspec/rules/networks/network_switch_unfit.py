"""The switch of a frontend, storage or out-of-band network does not take its NICs.

## What it finds

A `networks.storage.switch`, `networks.frontend.switch` or `networks.out_of_band.switch` whose ports are slower than the
`nic_bandwidth` of the network, or that does not carry its `technology`. NICs that are slower than the ports are not reported:
the slow ports of a switch of management networks are not in the catalog.

## Why it matters

A switch of management networks has ports of 1 Gb/s and a few faster uplinks. NICs of 200 Gb/s do not connect to it, and
the storage system that they should reach cannot be used.

## What to do

Use a switch with ports of the rate of the NICs.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.networks.storage.switch
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 32
  networks:
    frontend: {nics_per_node: 1, nic_bandwidth: 100 Gb/s}
    storage: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-sn2201, bandwidth: 200 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s, switch: spectrum-sn2201}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 32
  networks:
    frontend: {nics_per_node: 1, nic_bandwidth: 100 Gb/s}
    storage: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-4-sn5600, bandwidth: 200 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s, switch: spectrum-sn2201}
```

## Sources

- What each switch carries: `clusterspec catalog show switch/spectrum-sn2201`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect, Switch
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.switches import forwards
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.spec.model import NetworksSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")
ROUNDED = 1.01


def check(networks: NetworksSpec, catalog: Catalog) -> Iterator[Problem]:
    for name in ("frontend", "storage", "out_of_band"):
        network = getattr(networks, name)
        switch = catalog.find("switch", network.switch) if network is not None and network.switch else None
        if not isinstance(switch, Switch):
            continue
        at, port, nic = f"cluster.networks.{name}.switch", switch.port_bandwidth, network.nic_bandwidth
        technology = catalog.find("interconnect", network.technology) if network.technology else None
        if isinstance(technology, Interconnect) and not forwards(switch, technology.family):
            message = f"{switch.name} supports {both(switch.families)}, not {technology.name}"
            yield RULE.problem(at, message, f"use a switch for {technology.family}")
        elif port is not None and nic is not None and nic.per_direction > port.value * ROUNDED:
            message = (
                f"the ports of {switch.name} run at {display_bits(port.value)}, slower than the NICs of {nic.written}"
            )
            yield RULE.problem(at, message, "use a faster switch, or slower NICs")
