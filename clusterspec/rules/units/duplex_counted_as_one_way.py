"""A scale-up figure that sums both directions is declared as one direction.

## What it finds

`bandwidth` or `peer_bandwidth` under `scale_up`, declared unidirectional, that is twice (within 5 %) the figure of the
accelerator, else of the interconnect, in one direction.

## Why it matters

900 GB/s of NVLink 4 is 450 GB/s out and 450 GB/s in. A ring sends in one direction, so its ceiling is 450 GB/s. Planned
with 900 GB/s, an all-reduce of 16 GB on eight H100 takes 31 ms instead of 62 ms, and an acceptance test that reaches
360 GB/s fails at 40 % of the planned figure.

## What to do

Write `900 GB/s duplex`, or `450 GB/s unidirectional`.

## When to ignore it

Do not ignore it for a part that the catalog has.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s unidirectional}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 450 GB/s unidirectional}
```

## Sources

- A duplex figure as the denominator: https://github.com/NVIDIA/nccl/issues/1442
- The same in nccl-tests: https://github.com/NVIDIA/nccl-tests/issues/149
- Both conventions: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L76
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations) -> Iterator[Problem]:
    for deviation in deviations.deviations_of_rule(RULE.name):
        yield deviation.problem(RULE)
