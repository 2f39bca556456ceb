"""The line rate of a NIC exceeds its PCIe slot.

## What it finds

A `nic_bandwidth` above the bandwidth of 16 lanes of the NIC's slot (`cluster.pcie`, else the platform's) per direction
after encoding: 126 Gb/s for PCIe 3, 252 for 4 and 504 for 5 (128b/130b), 968 for 6 (242 of the 256 bytes of a FLIT). An error where the slot carries
less than three quarters of the NIC's rate, else a warning.

## Why it matters

The NIC never reaches its line rate: a 400 Gb/s card in a PCIe 4 slot carries at most 252 Gb/s. Packet headers and flow
control take another 5 to 10 % of these figures, so a rate just below them is not reached either.

## What to do

Use a newer slot, or state the NIC at the rate of the slot.

## When to ignore it

Ignore it for adapters that use two slots (an auxiliary card adds 16 lanes), and NICs on the accelerator itself.

## Fires

```yaml cluster.pcie
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  pcie: 4
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  pcie: 5
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s}
```

## Sources

- Payload by generation: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Interconnect
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.units import display_bits, percent

RULE = Rule.of(__name__, "error", yields_to=("nic-rate-off-technology",))
SEVERE = 0.75
"""Share of the line rate below which a slot costs more than a quarter of the network bandwidth."""


def check(
    nic_slot: Interconnect, deviations: Deviations, written_cluster: ClusterSpec, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    if nic_slot.bandwidth is None:
        return
    rate, payload = scale_out.nic_bandwidth.value, nic_slot.bandwidth.value
    if rate <= payload or deviations.has_any_of("nic"):
        return
    yield RULE.problem(
        "cluster.pcie" if written_cluster.pcie else "cluster.scale_out.nic_bandwidth",
        f"a {nic_slot.name} slot carries {display_bits(payload)} after encoding, and less after packet headers: {percent(payload / rate)} of the "
        f"{display_bits(rate)} of the NIC",
        f"use a newer slot, or state the NIC at {_rate_below(payload, scale_out)}",
        related=[("cluster.scale_out.nic_bandwidth", "the line rate")],
        severity="error" if payload < SEVERE * rate else "warning",
    )


def _rate_below(payload: float, scale_out: ScaleOut) -> str:
    """The fastest line rate of the fabric's technology that a slot of ``payload`` B/s per direction carries, as text."""
    rates = [each.value for each in scale_out.technology.port_rates if each.value <= payload]
    return f"a rate that its slot carries, `{display_bits(max(rates))}`" if rates else "a rate that its slot carries"
