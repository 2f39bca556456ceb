"""A measurement has more ranks than the cluster or its nodes, or fewer ranks than nodes.

## What it finds

A measured entry with more ranks or nodes than the cluster has, spares included, with more ranks than its own `nodes` have, or
with fewer ranks than nodes.

## Why it matters

The measurement is from another machine, and its efficiencies would replace this machine's. Each node of a
measurement has at least one rank. With fewer ranks than nodes, the two numbers are swapped or one is wrong, and the
traffic is timed on the wrong links.

## What to do

Remove it, or correct the cluster or the numbers.

## When to ignore it

Do not ignore it.

## Fires

```yaml measured[0].ranks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {collective: all-reduce, ranks: 32, size: 8 GiB, busbw: 360 GB/s}
```

```yaml measured[0].ranks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
measured:
  - {collective: all-reduce, nodes: 32, ranks: 4, size: 8 GiB, busbw: 360 GB/s}
```

```yaml measured[0].ranks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
measured: [{collective: all-reduce, nodes: 2, ranks: 32, size: 8 GiB, busbw: 340 GB/s}]
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
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(
    measurements: tuple[Measurement, ...], measured: tuple[MeasuredSpec, ...], cluster: Cluster
) -> Iterator[Problem]:
    nodes = cluster.all_nodes
    most = nodes * cluster.ranks_per_node
    for measurement in measurements:
        written, at = measured[measurement.index], ("measured", measurement.index)
        if written.nodes is not None and written.nodes > nodes:
            message = f"a measurement over {written.nodes:,} nodes exceeds the cluster of {nodes:,}"
            yield RULE.problem((*at, "nodes"), message, "remove the entry: it is from another machine")
        elif measurement.ranks is not None and measurement.ranks > most:
            key = "ranks" if written.ranks is not None else measurement.at[-1]
            message = f"a measurement over {measurement.ranks:,} ranks exceeds the cluster of {most:,}"
            yield RULE.problem((*at, key), message, "remove the entry: it is from another machine")
        elif written.nodes is not None and (written.ranks or 0) > written.nodes * cluster.ranks_per_node:
            message = f"{plural(written.ranks or 0, 'rank')} do not fit on {plural(written.nodes, 'node')} of {cluster.ranks_per_node} ranks"
            help_ = (
                f"write `ranks: {written.nodes * cluster.ranks_per_node}`, all ranks of these nodes, or correct `nodes`"
            )
            yield RULE.problem((*at, "ranks"), message, help_)
        elif written.nodes is not None and written.ranks is not None and written.ranks < written.nodes:
            message = f"{plural(written.ranks, 'rank')} cannot lie on {written.nodes:,} nodes: each has at least one"
            help_ = (
                f"write `ranks: {written.nodes * cluster.ranks_per_node}`, all ranks of these nodes, or swap the two"
            )
            yield RULE.problem((*at, "ranks"), message, help_)
