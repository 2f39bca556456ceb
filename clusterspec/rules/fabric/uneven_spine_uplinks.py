"""The uplinks of a leaf do not spread evenly over the spines.

## What it finds

`leaf_switches` and `spine_switches` stated, where the spines do not divide the uplinks per leaf although a similar
number would, or where a leaf has fewer uplinks than there are spines: a warning, and a note where the spines with the
fewest links lose less than 5 % of the bandwidth, or where a leaf has ten links or more to each spine.

## Why it matters

Some spines get more links than others, and evenly distributed traffic saturates those with fewer links first: 72
uplinks over 16 spines are four or five each. A leaf with 32 uplinks reaches only 32 of 64 spines: leaves that share no
spine have no path in two tiers.

## What to do

Use a number of spines that divides the uplinks of a leaf.

## When to ignore it

Ignore it with adaptive routing that weights spines by their links.

## Fires

```yaml cluster.scale_out.spine_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch_ports: 64
    topology: fat-tree
    leaf_switches: 16
    spine_switches: 12
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
    spine_switches: 16
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 24
  scale_out:
    technology: infiniband-ndr
    switch_ports: 64
    topology: rail-optimized
    leaf_switches: 8
    spine_switches: 3
```

## Sources

- Spines of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import evening_switch_count
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, ordered_links
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning", yields_to=("too-few-switches",))
LITTLE = 0.05
"""Share of the uplinks that do not spread evenly below which the finding is a note; uneven hashing of flows loses as
much (an assumption).
"""
ALIKE = 10
"""Smallest number of links per leaf and spine at which one more link changes the pair's bandwidth by at most a tenth (an assumption)."""


def check(counts: FabricCount, written_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    """Problems of two-tier fabrics; with three tiers a leaf connects only to the spines of its pod.

    `too-few-switches` reports too few spines, and `endpoints-exceed-fabric` reports tiers that are too small.
    """
    leaves, spines, fabric = written_scale_out.leaf_switches, written_scale_out.spine_switches, counts.fabric
    if not leaves or not spines or (fabric is not None and (fabric.tiers > 2 or not fabric.fits)):
        return
    if fabric is not None and spines < (fabric.least_spine_switches or 0):
        return
    carried = fabric.links_per_cable["leaf_spine"] if fabric else 1
    written = ordered_links(written_scale_out, "leaf_spine", carried)
    counted = fabric.links["leaf_spine"] // fabric.leaf_switches if fabric else 0
    uplinks = written.links // leaves if written else counted
    planes, ports = (fabric.planes, fabric.switch_ports) if fabric else (1, None)
    each = max(1, spines // planes)
    best = evening_switch_count(each, uplinks, ports or uplinks, max(1, leaves // planes)) if uplinks > 0 else None
    if best is not None:
        of_plane = " of a plane" if planes > 1 else ""
        message = (
            f"{uplinks} uplinks of a leaf are not divisible by {each} spines{of_plane}: some spines get more links than others"
            if each <= uplinks
            else f"{uplinks} uplinks of a leaf reach only {uplinks} of {each} spines{of_plane}: "
            "some leaves do not reach each other"
        )
        help_ = f"use {plural(best * planes, 'spine')}: they divide the uplinks"
        lost = 1 - uplinks // each * each / uplinks
        little = lost < LITTLE or uplinks // each >= ALIKE
        yield RULE.problem("cluster.scale_out.spine_switches", message, help_, severity="note" if little else "")
