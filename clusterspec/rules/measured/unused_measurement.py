"""A measurement says too little to be used.

## What it finds

A measured entry, or its log, that does not say of which collective, on how many ranks or at which size it is; whose sizes all lie
below 256 MiB; or whose ranks leave NICs of their nodes idle.

## Why it matters

What was measured replaces the catalog's efficiencies. One that is not used leaves the prediction as it was, and nobody would notice.

## What to do

Name `collective` and `ranks` beside the log (logs without their head, or run with `-c 0`, cannot tell an all-gather from an
all-to-all); test up to 8 GiB, with all ranks of each node.

## When to ignore it

Where it is kept for the record.

## Fires

```yaml measured[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: unchecked.txt}
```

```yaml measured[0].size
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {collective: all-reduce, nodes: 2, size: 64 MiB, busbw: 205 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: unchecked.txt, collective: all-gather}
```

## Sources

- Sizes and the plateau: https://github.com/NVIDIA/nccl-tests/issues/212
- What a test prints: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import LEAST_SIZE, Measurement, idle_nics
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import MeasuredSpec
from clusterspec.units import say

RULE = Rule.of(__name__, "note")


def check(
    facts: Facts, measurements: tuple[Measurement, ...], measured: tuple[MeasuredSpec, ...], cluster: Cluster
) -> Iterator[Problem]:
    for measurement in measurements:
        said, at = measured[measurement.index], ("measured", measurement.index)
        if facts.spec.unreadable(at) or not (said.log or said.busbw or said.algbw):
            continue
        if lacks := list(_lacks(measurement, said)):
            message = f"nothing says {' or '.join(lacks)}: the measurement is not used"
            yield RULE.problem(at, message, "name `collective`, `ranks` and `size`")
        elif measurement.largest and measurement.largest.size < LEAST_SIZE:
            size, least = say(measurement.largest.size, "B"), say(LEAST_SIZE, "B")
            message = f"{size} is below {least}, where starting counts as much as sending: the measurement is not used"
            yield RULE.problem((*at, "log" if said.log else "size"), message, "test up to 8 GiB")
        elif idle_nics(cluster, measurement):
            message = "its ranks leave NICs of their nodes idle: the measurement is not used"
            yield RULE.problem((*at, "ranks" if said.ranks else "log"), message, "test with all ranks of each node")


def _lacks(measurement: Measurement, said: MeasuredSpec) -> Iterator[str]:
    if measurement.collective is None:
        yield "which collective it is"
    if measurement.ranks is None:
        yield "how many ranks took part"
    if said.size is None and said.log is None:
        yield "at which size"
