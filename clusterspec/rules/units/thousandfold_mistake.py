"""A figure is off by a factor of 1000: one prefix too high or too low.

## What it finds

A stated bandwidth, power, memory or peak that is 1000 times the catalog's figure, or 1/1000 of it (within 5 %);
and, where the catalog has no figure, a fabric NIC below 1 Gb/s (100 Mb/s over TCP, between sites) or a node below 100 W
or above 1 MW.

## Why it matters

"8 × ConnectX-7 at 200 Gb/s, that is 1.6 Gb/s" was published; the sum is 1.6 Tb/s. Every time, power and price computed
from the figure is wrong by the same factor.

## What to do

Correct the prefix: k, M, G, T.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 400 Mb/s}
```

```yaml cluster.power.node
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  power: {node: 10.2 W}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  power: {node: 10.2 kW}
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 400 Gb/s}
```

## Sources

- The published figure: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L727
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
