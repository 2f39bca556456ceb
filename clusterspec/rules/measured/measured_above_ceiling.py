"""A measurement exceeds the line rate of the links.

## What it finds

A bus bandwidth above the line-rate ceiling of its ranks, where no reduction in the network is declared: a note. It is
an error above 2.5 times the ceiling, and for a stated `algorithm: ring` above 1.1 times. For an all-reduce over two
nodes, where a tree sends half as much as a ring, the rule starts at twice the ceiling.

## Why it matters

Bus bandwidth assumes a ring. In-network reduction (480 GB/s on links of 450 GB/s) and trees over two nodes can exceed
the line rate. Other causes are a wrong number of ranks, and an algorithm bandwidth stated as bus bandwidth.

## What to do

Declare `in_network_reduction`, or check the metric and the number of ranks.

## When to ignore it

Ignore it where the log was read again and the algorithm explains it.

## Fires

```yaml measured[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-gather, nodes: 4, size: 8 GiB, busbw: 500 GB/s}
```

```yaml measured[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 2880 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-gather, nodes: 4, size: 8 GiB, busbw: 370 GB/s}
```

## Sources

- Above line rate with NVLink SHARP: https://github.com/NVIDIA/nccl-tests/issues/272
- Two-node trees: https://github.com/NVIDIA/nccl-tests/issues/153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import Measurement, expected_cost
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import PLATEAU, measurement_name
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "likely")
ROUNDED = 1.01
BY_TREE = 2.0
"""Ratio of bus bandwidth to line rate that a tree over two nodes can reach: it sends every byte once, while a ring
sends it twice.
"""
BEYOND = 2.5
"""Ratio above which neither an algorithm nor in-network reduction explains the figure, so that the unit or the ranks
are wrong.
"""
RING = 1.1
"""Ratio above which a ring does not explain the figure: it sends exactly what its bus bandwidth counts, apart from
rounding of log and rate.
"""


def check(measurements: tuple[Measurement, ...], rated: Cluster) -> Iterator[Problem]:
    for measurement in measurements:
        best = expected_cost(rated, measurement, PLATEAU)
        seen = max((row.busbw for row in measurement.rows), default=0.0)
        tree = measurement.collective == "all-reduce" and measurement.nodes == 2 and measurement.algorithm != "ring"
        if best is None or seen <= (BY_TREE if tree else ROUNDED) * best.ceiling_busbw:
            continue
        by = f" by {measurement.algorithm}" if measurement.algorithm else ""
        message = f"{measurement_name(measurement)}{by}: {display(seen, 'B/s')} exceeds the {display(best.ceiling_busbw, 'B/s')} that the links carry"
        reduction = (
            "check that the run used this algorithm" if measurement.algorithm else "declare in_network_reduction"
        )
        help_ = f"{reduction}, or check the ranks and whether it is bus or algorithm bandwidth"
        most = RING if measurement.algorithm == "ring" else BEYOND
        severity = "error" if seen > most * best.ceiling_busbw else ""
        yield RULE.problem(measurement.at, message, help_, severity=severity)
