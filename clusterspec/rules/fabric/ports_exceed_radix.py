"""The links of a leaf exceed its ports.

## What it finds

Stated links (or cables) to nodes and spines that, divided among the stated leaves, exceed the ports of a switch. Also
`levels` of a fat tree or of rails whose first level is named as one leaf (`leaf`, `tor`, or without a name, and without a `count`), if
its nodes and uplinks exceed its `switch_ports`.

The finding is an error, and a warning where the ports of a switch are only assumed, and for levels without a name or a ratio.

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

```yaml cluster.scale_out.levels[0].nodes
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 36
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: fat-tree
    levels: [{name: leaf, nodes: 6, switch_ports: 64, oversubscription: 1}, {name: spine, nodes: 36, switch_ports: 64}]
    flow_control: {pfc: true, ecn: true}
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

from clusterspec.cluster.clos import ceiling
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, link_rate, ordered_links
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LevelSpec, ScaleOutSpec
from clusterspec.standard import pattern
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


ONE_LEAF = pattern(r"(?i)^(?:leaf|leaves|tor|top.of.rack|edge|access)(?: switch(?:es)?)?$")
"""Pattern of the names of a level whose blocks are single switches."""


def check(
    counts: FabricCount, written_scale_out: ScaleOutSpec, scale_out: ScaleOut, cluster: Cluster
) -> Iterator[Problem]:
    if written_scale_out.levels and scale_out.topology in {"fat-tree", "rail-optimized"}:
        yield from _level_problem(written_scale_out.levels[0], scale_out, cluster)
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


def _level_problem(written: LevelSpec, fabric: ScaleOut, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a leaf whose nodes and uplinks take more ports than it has."""
    level, ports, nodes = fabric.levels[0], written.switch_ports, written.nodes
    if not ports or not nodes or written.count or ONE_LEAF.search(written.name or "leaf") is None:
        return
    nics = fabric.nics_per_node / (fabric.rails if fabric.topology == "rail-optimized" else 1)
    down, rate = ceiling(nodes * nics), link_rate(fabric)
    upward = level.uplink_bandwidth.value if level.uplink_bandwidth else rate
    up = ceiling(down * rate / level.oversubscription / upward - 1e-9) if nodes < cluster.all_nodes else 0
    if down + up <= ports:
        return
    message = f"{nodes} nodes with {plural(ceiling(nics), 'NIC')}{' in a rail' if nics < fabric.nics_per_node else ''} and {level.oversubscription:g}:1 take {down} ports down and {up} up, more than the {ports} of one switch"
    help_ = "put fewer nodes on a leaf, state the ratio that its ports allow, or the `count` of switches of the level"
    yield RULE.problem(
        "cluster.scale_out.levels.0.nodes",
        message,
        help_,
        severity="error" if written.name and written.oversubscription else "warning",
        confidence="likely",
    )
