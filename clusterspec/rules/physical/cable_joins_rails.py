"""One cable between nodes and leaves carries links of several rails.

## What it finds

In a rail topology with as many rails as NICs, `links_per_cable.node_leaf` above the links of one NIC in one plane, or
above those of all rails on a leaf where the leaf switches are fewer than the rails. The rule is silent for cables with
fixed ends, whose branches may end at two nodes.

## Why it matters

Each NIC of a node is on its own rail, hence on its own leaf. Two ports of one cage belong to two NICs: their links go
to two switches and need a cable each. With one cable for two links, half of the NICs have no link, or two rails share a
leaf.

## What to do

Order one cable for each link between nodes and leaves; a twin-port module takes two fibers.

## When to ignore it

Ignore it for splitter cables that branch to two leaves.

## Fix safety

The fix is unsafe: it writes the links of one NIC. The number of cables has to follow.

## Fires

```yaml cluster.scale_out.links_per_cable.node_leaf
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    links_per_cable: {node_leaf: 2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    links_per_cable: {node_leaf: 1, leaf_spine: 2}
```

## Sources

- Cable counts of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import FIXED_ENDS
from clusterspec.cluster.model import ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out.links_per_cable.node_leaf"


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    carried = written_scale_out.links_per_cable.node_leaf if written_scale_out.links_per_cable else None
    if carried is None or scale_out.topology not in RAIL_TOPOLOGIES:
        return
    if (written_scale_out.cable_type or {}).get("node_leaf") in FIXED_ENDS:
        return
    on_a_leaf = max(1, scale_out.rails // (written_scale_out.leaf_switches or scale_out.rails))
    together = scale_out.nics_per_node // scale_out.rails * scale_out.planes * on_a_leaf
    if carried <= max(1, together):
        return
    message = f"a cable of {carried} links joins NICs of several rails, but each of the {scale_out.rails} rails has its own leaf"
    fix = value_fix(AT, str(max(1, together)))
    yield RULE.problem(AT, message, "use one cable for each link between nodes and leaves", fix=fix)
