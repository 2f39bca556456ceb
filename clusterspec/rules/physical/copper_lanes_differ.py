"""A copper cable joins ports whose lanes have different rates.

## What it finds

`cable_type: dac` from nodes to switches, where the cages of the switch are QSFP-DD with eight lanes a port, and the ports of
the nodes need a higher rate from each of their four lanes: 400 Gb/s as 8 × 50 against 4 × 100.

## Why it matters

Passive copper changes neither the number nor the rate of lanes, so that no link comes up.

## What to do

Use optical modules or active cables that convert the lanes, or a switch whose lanes have the rate of the NICs.

## When to ignore it

Ignore it where the cables are active ones with gearboxes: write `cable_type: aec`.

## Fires

```yaml cluster.scale_out.cable_type.node_leaf
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 4
  scale_out:
    technology: roce-v2
    nic: connectx-7
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: single-switch
    switch: spectrum-3-sn4700
    cable_type: {node_leaf: dac}
    flow_control: {pfc: true, ecn: true}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 4
  scale_out:
    technology: roce-v2
    nic: connectx-7
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: single-switch
    switch: spectrum-4-sn5600
    cable_type: {node_leaf: dac}
    flow_control: {pfc: true, ecn: true}
```

## Sources

- Eight lanes of 50 Gb/s in QSFP-DD: `clusterspec catalog show dac-400g-qsfp-dd`
- Four lanes of 100 Gb/s to a NIC of 400 Gb/s: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import connectors_of_node, link_rate
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error", "likely")
SWITCH_LANES, NIC_LANES = 8, 4
"""Lanes of a QSFP-DD cage, and of a NIC port of up to 400 Gb/s in any cage."""
FASTEST = 50e9
"""Port rate in B/s above which NICs have eight lanes too."""


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut, cluster: Cluster) -> Iterator[Problem]:
    if (written_scale_out.cable_type or {}).get("node_leaf") != "dac":
        return
    switch, forms = scale_out.switch, connectors_of_node(cluster, scale_out)
    if switch is None or switch.connector != "QSFP-DD" or not switch.ports or not forms or "QSFP-DD" in forms:
        return
    port, rate = switch.port_bandwidth, link_rate(scale_out)
    ports_of_cage = switch.ports / (switch.cages or switch.ports)
    if port is None or rate > FASTEST:
        return
    lane, needed = port.value * ports_of_cage / SWITCH_LANES, rate / NIC_LANES
    if needed > lane * 1.01:
        message = f"copper joins lanes of {display_bits(lane)} of {switch.name} with the {NIC_LANES} lanes of {display_bits(needed)} that a NIC needs for {display_bits(rate)}"
        help_ = "use optical modules or active cables that convert the lanes, or another switch"
        yield RULE.problem("cluster.scale_out.cable_type.node_leaf", message, help_)
