"""A measurement comes from a larger machine.

## What it finds

A measured entry with more ranks or nodes than the cluster has, spares included.

## Why it matters

Its figures would replace this machine's efficiencies with another's.

## What to do

Remove it, or correct the cluster.

## When to ignore it

Never.

## Fires

```yaml measured[0].ranks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {collective: all-reduce, ranks: 32, size: 8 GiB, busbw: 360 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, ranks: 32, size: 8 GiB, busbw: 360 GB/s}
```

## Sources

- Ranks and sizes of nccl-tests: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import Measurement
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import MeasuredSpec

RULE = Rule.of(__name__, "error")


def check(
    measurements: tuple[Measurement, ...], measured: tuple[MeasuredSpec, ...], cluster: Cluster
) -> Iterator[Problem]:
    nodes = cluster.all_nodes
    most = nodes * cluster.ranks_per_node
    for measurement in measurements:
        said, at = measured[measurement.index], ("measured", measurement.index)
        if said.nodes is not None and said.nodes > nodes:
            message = f"{said.nodes:,} nodes of a cluster of {nodes:,}"
            yield RULE.problem((*at, "nodes"), message, "remove the entry: it is another machine's")
        elif measurement.ranks is not None and measurement.ranks > most:
            key = "ranks" if said.ranks is not None else measurement.at[-1]
            message = f"{measurement.ranks:,} ranks on a cluster of {most:,}"
            yield RULE.problem((*at, key), message, "remove the entry: it is another machine's")
