"""A scale-up figure of one direction is declared as the sum of both.

## What it finds

`bandwidth` or `peer_bandwidth` under `scale_up`, declared duplex, that is half of what the accelerator, else
the interconnect, has in both directions together.

## Why it matters

The figure of one direction, halved once more: 450 GB/s of NVLink 4 becomes 225, and everything inside the
domain is predicted to take twice as long. Tensor parallelism then looks worse than it is.

## What to do

Write `450 GB/s unidirectional`, or `900 GB/s duplex`.

## When to ignore it

For a part whose links were halved by the vendor and that the catalog does not know; name that part instead
where the catalog has it (the A800 has 400 of the A100's 600 GB/s).

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 450 GB/s duplex}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s duplex}
```

## Sources

- Both conventions: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L76
- Users caught between them: https://github.com/NVIDIA/nccl/issues/1442
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.slips import Slips
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(slips: Slips) -> Iterator[Problem]:
    return slips.problems(RULE)
