"""The links of a leaf exceed its ports.

## What it finds

Stated links (or cables) to nodes and spines that, divided among the stated leaves, exceed the ports of a switch.

The finding is an error, and a warning where the ports of a switch are only assumed.

## Why it matters

The ordered parts do not fit together: some links have no port.

## What to do

Use more leaves, or fewer links per leaf.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.leaf_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch_ports: 64
    topology: fat-tree
    leaf_switches: 14
    spine_switches: 8
    links: {node_leaf: 512, leaf_spine: 512}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch_ports: 64
    topology: fat-tree
    leaf_switches: 16
    spine_switches: 8
    links: {node_leaf: 512, leaf_spine: 512}
```

## Sources

- Ports of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, ordered_links
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")


def check(counts: FabricCount, written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    leaves, ports = written_scale_out.leaf_switches, scale_out.switch_ports
    down, up = ordered_links(written_scale_out, "node_leaf"), ordered_links(written_scale_out, "leaf_spine")
    if not leaves or not ports or down is None or up is None:
        return
    below, above = -(-down.links // leaves), -(-up.links // leaves)
    if below + above > ports:
        fabric = counts.fabric
        help_ = f"use {fabric.leaf_switches} leaves" if fabric else "use more leaves, or fewer links"
        message = f"{down.how} to nodes and {up.how} to spines over {leaves:,} leaves need {below} + {above} ports each, more than {ports}: some links have no port"
        yield RULE.problem("cluster.scale_out.leaf_switches", message, help_, severity=counts.severity)
