"""`nodes_per_domain` exceeds the nodes of a scale-up domain.

## What it finds

A `nodes_per_domain` above the nodes of one scale-up domain.

## Why it matters

The key states how many nodes of each domain the job uses. A number above the nodes of the domain is ignored.

## What to do

Use at most domain / accelerators per node: 18 for an NVL72 rack of trays of four.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.nodes_per_domain
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
layout: {tp: 4, nodes_per_domain: 20}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
layout: {tp: 4, nodes_per_domain: 16}
```

## Sources

- Jobs on 64 of 72: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(written_layout: LayoutSpec, cluster: Cluster) -> Iterator[Problem]:
    used, there = written_layout.nodes_per_domain, nodes_of_domain(cluster)
    if used is not None and used > there:
        message = f"a domain of {cluster.scale_up.domain} accelerators has {plural(there, 'node')}, not {used}"
        yield RULE.problem("layout.nodes_per_domain", message, f"write `nodes_per_domain` of at most {there}")
