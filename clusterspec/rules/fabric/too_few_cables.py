"""The order has fewer links or cables than the endpoints need.

## What it finds

`links.node_leaf`, or `cables.node_leaf` × `links_per_cable`, below the endpoints over all planes; or `leaf_spine` below
the uplinks that the stated oversubscription requires. Where both keys are stated, each has to suffice. Where `links_per_cable` is absent, a cable carries the planes of
a NIC, and the links of one whole port of the switch.

## Why it matters

Ports stay unused, or the fabric is oversubscribed and the spec does not state it: 448 of 512 uplinks are 8:7.

## What to do

Order the computed number, or state the links per cable.

## When to ignore it

Do not ignore it. If a cable carries more links than a whole port of the switch, state `links_per_cable`.

## Fires

```yaml cluster.scale_out.cables.node_leaf
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    cables: {node_leaf: 448, leaf_spine: 512}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    cables: {node_leaf: 512, leaf_spine: 256}
    links_per_cable: {leaf_spine: 2}
```

## Sources

- Cables of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, links_and_cables
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")


def check(counts: FabricCount, written_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    fabric = counts.fabric
    if fabric is None:
        return
    of_nodes = fabric.endpoints - (written_scale_out.extra_endpoints or 0)  # other endpoints may have other cables
    needs = {"node_leaf": of_nodes * fabric.planes, "leaf_spine": fabric.least_leaf_spine_links}
    between = {"node_leaf": "nodes and leaves", "leaf_spine": "leaves and spines"}
    for level, needed in needs.items():
        orders = links_and_cables(written_scale_out, level, fabric.links_per_cable[level])
        written = next((each for each in orders if needed is not None and each.links < needed), None)
        if written is not None and needed is not None:
            planes = f" over {fabric.planes} planes" if fabric.planes > 1 else ""
            message = (
                f"{written.how} between {between[level]} stated, {needed:,} links needed{planes}: ports stay unused"
            )
            counts_cables = written.at.startswith("cluster.scale_out.cables")
            carried = ", or state in `links_per_cable` how many links a cable carries" if counts_cables else ""
            yield RULE.problem(written.at, message, f"order {needed:,} links{carried}")
