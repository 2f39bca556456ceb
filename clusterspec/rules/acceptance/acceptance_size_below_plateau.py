"""An acceptance test demands the bandwidth of large messages at a small size.

## What it finds

A `size` below 1 GiB over several nodes (256 MiB on one) with a `busbw` of at least 80 % of the expected plateau: a
warning, and an error where it exceeds four times the bandwidth predicted for that size.

## Why it matters

Bandwidth grows with size: four nodes of B200 reach 198 GB/s at 128 MiB and 382 GB/s at 16 GiB. A sound machine fails
the test.

## What to do

Use 8 or 16 GiB, or the predicted bandwidth at this size.

## When to ignore it

Ignore it where exactly this size matters to the workload. The test should then demand the predicted bandwidth at this
size.

## Fires

```yaml acceptance[0].size
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 64 MiB, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- 198 and 382 GB/s: https://github.com/awslabs/awsome-distributed-training/blob/0edaf1526bc47185ce5f827100416f99bd7b69e1/4.validation_and_observability/2.gpu-cluster-healthcheck/checks/5-nccl-allreduce.sh#L30
- Bandwidth by size: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1394
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import (
    bus_bandwidth,
    demands_plateau_at_small_size,
    predicted_collective,
    test_name,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display, rounded_down

RULE = Rule.of(__name__, "warning", "likely")
HOPELESS = 4.0
"""At this multiple of the prediction or above, no range of the prediction lets a machine pass."""


def check(acceptance: tuple[AcceptanceSpec, ...], rated: Cluster) -> Iterator[Problem]:
    for number, test in enumerate(acceptance):
        if test.size is None or not demands_plateau_at_small_size(test, rated):
            continue
        asked, here = bus_bandwidth(test, rated), predicted_collective(test, rated, test.size.value)
        if asked is not None and here is not None:
            yield RULE.problem(
                ("acceptance", number, "size"),
                f"{test_name(test, rated)}: {display(asked, 'B/s')} is the bandwidth of large messages; at {test.size.written} the "
                f"prediction is {display(here.busbw, 'B/s')}: a sound machine fails",
                f"use a size of 8 or 16 GiB, or demand at most {display(rounded_down(here.busbw), 'B/s')}",
                severity="error" if asked > HOPELESS * here.busbw else "warning",
            )
