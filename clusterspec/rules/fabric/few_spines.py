"""Losing one spine costs a noticeable part of the fabric.

## What it finds

One to six stated spines.

## Why it matters

With four spines, one in repair takes a quarter of the bandwidth between leaves; with sixteen, 6 %.

## What to do

Eight or more, of fewer ports if need be.

## When to ignore it

For fabrics so small that eight spines would stay nearly empty.

## Fires

```yaml cluster.scale_out.spine_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 8, spine_switches: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: 8}
```

## Sources

- Spines of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.counts import counted
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "heuristic")
FEW = 6


def check(facts: Facts, said_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    """Spines that are fewer than the uplinks need are told of by too-few-switches."""
    spines, fabric = said_scale_out.spine_switches, counted(facts)
    enough = fabric is None or (spines or 0) >= (fabric.least_spine_switches or 0)
    if spines and spines <= FEW and enough:
        message = f"one of {spines} spine{'s' if spines > 1 else ''} down takes {percent(1 / spines, 2)} of the bandwidth between leaves"
        yield RULE.problem(
            "cluster.scale_out.spine_switches", message, "eight or more spines, where they would not stay empty"
        )
