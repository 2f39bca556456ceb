"""No port of a frontend, storage or out-of-band network has the rate of its NICs.

## What it finds

A `networks.storage.switch`, `networks.frontend.switch` or `networks.out_of_band.switch` whose ports are slower than the
`nic_bandwidth` of the network, or that does not carry its `technology`: an error. NICs slower than the ports are not
reported, since the catalog does not list the slow ports of management switches. Without a named switch, the rule gives
a warning for a rate that neither one nor two ports of Ethernet or InfiniBand have, such as 320 Gb/s; it does not on
rented machines, whose operators limit the rate. An out-of-band network that shares the compute fabric is an error.

## Why it matters

A switch of management networks has ports of 1 Gb/s and a few faster uplinks. NICs of 200 Gb/s do not connect to it, and
the storage system that they should reach cannot be used.

## What to do

Use a switch with ports of the rate of the NICs; write the line rate of one NIC in one direction.

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

```yaml cluster.networks.storage.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 32
  networks:
    frontend: {nics_per_node: 1, nic_bandwidth: 100 Gb/s}
    storage: {nics_per_node: 2, nic_bandwidth: 40 GB/s, bandwidth: 200 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
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

- Rates of Ethernet: https://standards.ieee.org/ieee/802.3/10422/
- What each switch carries: `clusterspec catalog show switch/spectrum-sn2201`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect, Switch, carries_family
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import ETHERNET_PORTS
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list, or_list
from clusterspec.spec.model import NetworkSpec, NetworksSpec
from clusterspec.units import display_bits, plain
from clusterspec.units.display import agrees_within

RULE = Rule.of(__name__, "error")
ROUNDED = 1.01
PORT_RATES = (0.1, *ETHERNET_PORTS, 56)
"""Port rates in Gb/s of Ethernet, of its management ports and of FDR InfiniBand; other InfiniBand rates equal Ethernet
rates.
"""


def check(networks: NetworksSpec, catalog: Catalog, cluster: Cluster) -> Iterator[Problem]:
    for name in ("frontend", "storage", "out_of_band"):
        network = getattr(networks, name)
        switch = catalog.find("switch", network.switch) if network is not None and network.switch else None
        if isinstance(switch, Switch):
            yield from _switch_problem(f"cluster.networks.{name}.switch", network, switch, catalog)
        elif network is not None and not cluster.cloud:
            yield from _rate_problem(f"cluster.networks.{name}.nic_bandwidth", network)
    if networks.out_of_band is not None and networks.out_of_band.shares == "scale_out" and not cluster.cloud:
        message = "management controllers have 1GBASE-T ports, which no port of the compute fabric takes, and a management network on the fabric fails with it"
        help_ = "give them a switch of their own, or share the frontend network"
        yield RULE.problem("cluster.networks.out_of_band.shares", message, help_)


def _switch_problem(at: str, network: NetworkSpec, switch: Switch, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a switch for another network technology, or of one whose ports are slower than the NICs."""
    port, nic = switch.port_bandwidth, network.nic_bandwidth
    technology = catalog.find("interconnect", network.technology) if network.technology else None
    if isinstance(technology, Interconnect) and not carries_family(switch.families, technology.family):
        message = f"{switch.name} supports {and_list(switch.families)}, not {technology.name}"
        yield RULE.problem(at, message, f"use a switch for {technology.family}")
    elif port is not None and nic is not None and nic.per_direction > port.value * ROUNDED:
        message = f"the ports of {switch.name} run at {display_bits(port.value)}, slower than the NICs of {nic.written}"
        yield RULE.problem(at, message, "use a faster switch, or slower NICs")


def _rate_problem(at: str, network: NetworkSpec) -> Iterator[Problem]:
    """The problem of a NIC rate that is neither the rate of one port nor that of two."""
    if network.nic_bandwidth is None:
        return
    rate = network.nic_bandwidth.per_direction * 8 / 1e9
    if any(agrees_within(rate, count * port, ROUNDED - 1) for port in PORT_RATES for count in (1, 2)):
        return
    near = sorted(sorted(PORT_RATES, key=lambda port: abs(port - rate))[:2])
    message = f"no NIC has a line rate of {display_bits(network.nic_bandwidth.per_direction)}"
    advice = (
        f"write the line rate of one NIC in one direction, such as {or_list(f'{plain(port)} Gb/s' for port in near)}"
    )
    yield RULE.problem(at, message, advice, severity="warning")
