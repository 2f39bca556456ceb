"""A bandwidth of one direction is declared as the sum of both.

## What it finds

`bandwidth` or `peer_bandwidth` under `scale_up`, declared duplex, that is half of the duplex figure of the accelerator,
else of the interconnect; or a `nic_bandwidth` declared duplex that is the line rate of the NIC by its platform, its
switch or its technology. The finding is a warning where NICs of half that rate are sold as well and no platform or
switch decides.

## Why it matters

The figure is halved once more: 450 GB/s of NVLink 4 becomes 225, and every collective inside the domain is
predicted to take twice as long. A line rate counts one direction: `400 Gb/s duplex` is a NIC of 200 Gb/s.

## What to do

Write `450 GB/s unidirectional`, or `900 GB/s duplex`.

## When to ignore it

Ignore it for a variant with half the links, if the catalog lacks this variant. If the catalog has the variant, name it
(the A800 has 400 of the A100's 600 GB/s).

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

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
- Users who confused them: https://github.com/NVIDIA/nccl/issues/1442
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
