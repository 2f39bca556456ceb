"""An acceptance test demands more than the line rate of the links.

## What it finds

A `busbw` (or `algbw`) above the line-rate ceiling of the tested collective on the tested ranks. On one node the ceiling
is the scale-up bandwidth per direction, between nodes the bandwidth of the NICs that the test uses on each node.
Declared in-network reduction raises it.

## Why it matters

Public health checks demand 800 and 900 GB/s of machines whose links carry 450 GB/s. No supplier can pass, so the clause
is waived, and the machine is accepted without a test.

## What to do

Demand 80 to 90 % of the predicted bandwidth; the ceiling itself is out of reach of a sound machine.

## When to ignore it

Do not ignore it for the stated collective and ranks.

## Fires

```yaml acceptance[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 800 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- A public floor above the ceiling: https://github.com/awslabs/awsome-distributed-training/blob/0edaf1526bc47185ce5f827100416f99bd7b69e1/4.validation_and_observability/2.gpu-cluster-healthcheck/checks/5-nccl-allreduce.sh#L30
- What bus bandwidth is held against: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
- NCCL's maintainers on ceilings: https://github.com/NVIDIA/nccl/issues/527
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import (
    PLATEAU,
    bus_bandwidth,
    metric_key,
    predicted_collective,
    recommended_threshold,
    test_name,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error")
ROUNDED = 1.005


def check(acceptance: tuple[AcceptanceSpec, ...], rated: Cluster) -> Iterator[Problem]:
    for number, test in enumerate(acceptance):
        asked, best = bus_bandwidth(test, rated), predicted_collective(test, rated, PLATEAU)
        if asked is None or best is None or asked <= best.ceiling_busbw * ROUNDED:
            continue
        here = predicted_collective(test, rated, test.size.value) if test.size else best
        ceiling = display(best.ceiling_busbw, "B/s")
        yield RULE.problem(
            ("acceptance", number, metric_key(test)),
            f"{test_name(test, rated)}: {display(asked, 'B/s')} of bus bandwidth exceeds the {ceiling} that the links carry: no supplier can pass",
            f"demand {recommended_threshold(here or best, test)}",
        )
