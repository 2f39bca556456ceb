"""The switch does not split its ports as far as the rate of the NICs requires.

## What it finds

A stated `switch` that offers fewer ports after breakout than a split to the rate of the NICs (over `planes`) gives. A
Quantum-2 port of 400 Gb/s splits into two of 200 Gb/s, not into four of 100 Gb/s. An error for switches of InfiniBand, and a
warning for those of Ethernet, whose later software may split ports further than the documents of the catalog state.

## Why it matters

The count of switches relies on ports that do not exist: the fabric needs twice the switches, or another tier.

## What to do

Use a switch with ports of this rate, faster NICs, or fewer planes.

## When to ignore it

Ignore it where slower NICs take unsplit ports; then state `switch_ports` as the switch has them.

## Fires

```yaml cluster.scale_out.switch
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 64
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s, planes: 4, switch: quantum-2-qm9700}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 64
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s, planes: 2, switch: quantum-2-qm9700}
```

## Sources

- 128 ports of 200 Gb/s at most: https://networking-docs.nvidia.com/qm97x0hw/specifications
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.cluster.scaleout import broken_out_ports
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    switch, rate = scale_out.switch, scale_out.nic_bandwidth.value / scale_out.planes
    if switch is None or written_scale_out.switch is None or deviations.has_any_of("nic"):
        return
    needed, stated = broken_out_ports(switch, rate), written_scale_out.switch_ports
    offered = max(switch.splits or 0, switch.ports or 0)
    if not switch.splits or needed is None or switch.ports is None or needed <= offered:
        return
    if stated is not None and stated <= offered:
        return  # the ports are not split further
    least = switch.port_bandwidth.value * switch.ports / offered if switch.port_bandwidth else 0.0
    documented = scale_out.technology.family == "infiniband"
    yield RULE.problem(
        "cluster.scale_out.switch",
        f"{switch.id} splits into {offered} ports of {display_bits(least)}, not into {needed} of {display_bits(rate)}",
        "use a switch with ports of this rate, or fewer planes",
        severity="error" if documented else "warning",
    )
