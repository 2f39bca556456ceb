"""A stated run from nodes to leaves is shorter than the row of racks that it spans.

## What it finds

A `distance.node_leaf` below the way from the farthest rack to the leaf along the rows, with half a meter up and down at
each end. The racks that share a leaf follow from
`nodes_per_rack` and the ports of a leaf; they stand side by side, `rack_pitch` apart (0.6 m), in rows of
`floor.racks_per_row`, or in as many rows as make the way shortest, with the switches in their middle unless
`floor.network_racks` says otherwise. A separate row of switches stands in the middle of all rows of the hall: the farthest
of them is half the rows away. A way that is shorter by less than a rack is not reported.

## Why it matters

Cables and optics are bought for the stated run. Passive copper that suits 3 m does not reach the eighth rack.

## What to do

State the longest run. Put 1 to 2 m at each end for the way from a port to the tray.

## When to ignore it

Ignore it where the racks stand nearer, such as back to back around the switches.

## Fires

```yaml cluster.scale_out.distance.node_leaf
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 32
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    distance: {node_leaf: 3 m}
  floor: {racks_per_row: 16}
  power: {nodes_per_rack: 2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 32
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    distance: {node_leaf: 7 m}
  floor: {racks_per_row: 16}
  power: {nodes_per_rack: 2}
```

## Sources

- Lengths of cables by racks: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/dgx-superpod-architecture.html
- The derivation: `clusterspec explain run-exceeds-reach`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.cable_runs import RACK_PITCH, horizontal_run
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, nodes_of_one_leaf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
LEAST_RISE = 0.5
"""Meters of cable from a port up to the overhead cables, or down from them, that every rack needs at each end."""


def check(
    counts: FabricCount, written_cluster: ClusterSpec, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    section = written_cluster.scale_out
    if section is None or not section.distance or counts.fabric is None:
        return
    stated = section.distance.get("node_leaf")
    way = horizontal_run(cluster, written_cluster, nodes_of_one_leaf(counts, scale_out))
    if stated is not None and way is not None and stated.value < way.meters + 2 * LEAST_RISE - RACK_PITCH:
        message = f"the longest run is stated as {stated.written}, but the last rack is {display(way.meters, 'm')} from its leaf: {way.how}"
        help_ = "state the longest run, with its way up and down at both ends"
        yield RULE.problem("cluster.scale_out.distance.node_leaf", message, help_)
