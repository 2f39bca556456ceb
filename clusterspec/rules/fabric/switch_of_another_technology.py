"""The switch does not support this technology, or not at this rate.

## What it finds

An Ethernet switch with InfiniBand NICs or the reverse, a switch of another vendor under a technology that needs one
vendor's switches and NICs (Spectrum-X), and a switch with ports slower than the rate of a NIC in one plane. RoCE, TCP
and Ultra Ethernet are transports between end points: every Ethernet switch forwards their packets.

## Why it matters

An InfiniBand NIC does not connect to an Ethernet switch. A port of 200 Gb/s halves the rate of a 400 Gb/s NIC.

## What to do

Use a matching switch: Quantum for InfiniBand, Spectrum, Arista or Tomahawk for RoCE.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.switch
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: spectrum-4-sn5600}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 12
  scale_out: {technology: ultra-ethernet-1, switch: tomahawk-5, nic_bandwidth: 400 Gb/s}
```

## Sources

- Ultra Ethernet over switches of Ethernet: https://ultraethernet.org/uec-1-0-spec

- What each switch carries: `clusterspec catalog show switch/quantum-2-qm9700`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import carries_family
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, scale_out: ScaleOut) -> Iterator[Problem]:
    switch, technology = scale_out.switch, scale_out.technology
    if switch is None:
        return
    at, rate = "cluster.scale_out.switch", scale_out.nic_bandwidth.value / scale_out.planes
    if not carries_family(switch.families, technology.family):
        message = f"{switch.name} supports {and_list(switch.families)}, not {technology.name}"
        yield RULE.problem(at, message, f"use a switch for {technology.family}")
        return
    if technology.single_vendor and switch.vendor not in {"", technology.vendor}:
        message = f"{technology.name} works between {technology.vendor}'s own switches and NICs, but {switch.name} is from {switch.vendor}"
        yield RULE.problem(at, message, f"use a switch of {technology.vendor}, or write `technology: roce-v2`")
        return
    port = switch.port_bandwidth
    if port is not None and port.value < rate * 0.99 and not deviations.has_any_of("nic"):
        message = f"the ports of {switch.name} run at {display_bits(port.value)}, slower than the NICs at {display_bits(rate)}"
        yield RULE.problem(at, message, "use a faster switch, or slower NICs")
