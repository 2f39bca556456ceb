"""A phase of a pool ends inside a scale-up domain.

## What it finds

A phase whose nodes are not a multiple of the nodes of a scale-up domain, on machines whose domain has several nodes and is sold as
one rack.

## Why it matters

A rack-scale domain cannot grow node by node: its scale-up switches and cables come with the rack, and its nodes are
sold with them. Until the next phase, one domain is incomplete, and layouts that need whole domains do not fit.

## What to do

Buy whole domains in each phase.

## When to ignore it

Ignore it where the vendor delivers the rack in parts and the phase is an interim state.

## Fires

```yaml pools.train.phases[0].nodes
clusterspec: 1
pools:
  train:
    platform: gb200-nvl72
    nodes: 72
    phases: [{date: 2027-03-01, nodes: 24}, {date: 2027-09-01, nodes: 72}]
jobs:
  a: {pool: train}
```

## Silent

```yaml
clusterspec: 1
pools:
  train:
    platform: gb200-nvl72
    nodes: 72
    phases: [{date: 2027-03-01, nodes: 36}, {date: 2027-09-01, nodes: 72}]
jobs:
  a: {pool: train}
```

## Sources

- 18 nodes of a GB200 NVL72: `clusterspec catalog show gb200-nvl72`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.fleet import Fleet
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "warning")


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        size = nodes_of_domain(pool.cluster) if pool.cluster else 1
        for index, phase in enumerate(pool.spec.phases or ()):
            if size > 1 and phase.nodes and phase.nodes % size:
                below, above = phase.nodes // size * size, (phase.nodes // size + 1) * size
                choices = f"{below} or {above}" if below else f"{above}"
                message = f"the phase has {plural(phase.nodes, 'node')}, and a scale-up domain has {size}: one domain is incomplete until the next phase"
                at = ("pools", pool.name, "phases", index, "nodes")
                yield RULE.problem(at, message, f"buy whole domains: {choices} nodes")
