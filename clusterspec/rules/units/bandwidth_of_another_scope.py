"""A bandwidth is stated per link, lane, node or domain instead of per accelerator or NIC.

## What it finds

A `scale_up.bandwidth` that is, within 3 %, the catalog's figure of one accelerator divided by its links or lanes, or
multiplied by the accelerators of a node or domain; or a `nic_bandwidth` that is the total of all NICs of a node.

## Why it matters

NVLink 4 has 25 GB/s per link, 450 GB/s per accelerator and 3,600 GB/s per node of eight, in one direction, and all
three are published. The wrong one changes every predicted collective by a factor of 18 or 8.

## What to do

Give the figure of one accelerator (all its links together) or of one NIC.

## When to ignore it

Ignore it where an accelerator has a single link, such as a bridged pair; state `topology` and `domain` as well.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 50 GB/s duplex}
```

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 3.2 Tb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s duplex}
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 8 x 50 Gb/s}
```

## Sources

- A node's total taken for an accelerator's: https://github.com/NVIDIA/nccl-tests/issues/149
- Links and lanes of NVLink: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L300
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")


def check(deviations: Deviations) -> Iterator[Problem]:
    for deviation in deviations.deviations_of_rule(RULE.name):
        yield deviation.problem(RULE)
