"""A scale-up bandwidth is the signaling rate of the links, not their payload.

## What it finds

A `scale_up.bandwidth` that is the catalog's payload figure divided by 0.9412, the coding of NVLink, within 0.5 %.

## Why it matters

`nvidia-smi nvlink -s` prints 26.5625 GB/s for each of the 18 links of an H100; they sum to 478.1 GB/s, and 450
GB/s of them carry data. With the signaling rate, every collective inside the domain is predicted 6 % too fast.

## What to do

Write the payload figure, or remove the key.

## When to ignore it

Do not ignore it. The rule is a note because 6 % seldom decides a design.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 478.1 GB/s unidirectional}
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

- Signaling rate and payload of the links: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L300
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note", "likely")


def check(deviations: Deviations) -> Iterator[Problem]:
    for deviation in deviations.deviations_of_rule(RULE.name):
        yield deviation.problem(RULE)
