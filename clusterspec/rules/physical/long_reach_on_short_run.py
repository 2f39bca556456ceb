"""Optical modules for kilometers are used on runs within one hall.

## What it finds

Modules of the classes FR and LR, which reach 2 km and more, at a level whose longest run is at most 300 m: a note.

## Why it matters

A long-reach module costs several times as much as a DR module (500 m) and draws more power, since it stabilizes its
lasers and multiplexes wavelengths. On a short fiber, the receivers of some long-reach modules are overdriven and need
an attenuator.

## What to do

Use modules of the class DR, or SR up to 50 or 100 m, at both ends.

## When to ignore it

Ignore it where the fiber plant has one pair for each link, which DR modules of several fibers cannot use.

## Fires

```yaml cluster.scale_out.optics.leaf_spine
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 48
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    switch: arista-7060dx5-64s
    flow_control: {pfc: true, ecn: true}
    distance: {leaf_spine: 30 m}
    optics: {leaf_spine: 400g-lr4-qsfp-dd}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: hgx-h100
  nodes: 48
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    switch: arista-7060dx5-64s
    flow_control: {pfc: true, ecn: true}
    distance: {leaf_spine: 30 m}
    optics: {leaf_spine: 400g-dr4-qsfp-dd}
```

## Sources

- Classes of modules and their reach: https://www.flexoptix.net/en/blog/2018/06/the-400g-overview/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, known_runs
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "heuristic")
LONG = ("FR", "LR")
HALL = 300.0
"""Run in meters up to which the cheaper DR class, with a reach of 500 m, leaves a margin for patch panels."""


def check(
    counts: FabricCount, written_cluster: ClusterSpec, cluster: Cluster, scale_out: ScaleOut
) -> Iterator[Problem]:
    section = written_cluster.scale_out
    if section is None or not section.optics:
        return
    runs = known_runs(counts, written_cluster, cluster)
    for one in level_optics(scale_out):
        run = runs.get(one.level)
        long = [end for end in one.ends if end.reach_class in LONG and end.reach]
        if run is None or run.meters > HALL or not long or long[0].reach is None:
            continue
        message = f"the longest run is {display(run.meters, 'm')}, but {long[0].name} reaches {display(long[0].reach.value, 'm')}"
        yield RULE.problem(
            f"cluster.scale_out.optics.{one.level}", message, "use modules of the class DR, or SR, at both ends"
        )
