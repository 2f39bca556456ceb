"""A NIC's rate equals the rate of one lane of an InfiniBand port.

## What it finds

A `nic_bandwidth` equal to the single-lane rate of the InfiniBand generation in `technology`: 50 Gb/s of HDR, 100 of
NDR, 200 of XDR.

## Why it matters

A port has four lanes: "NDR400, 4 × 100" in a table of nodes means one NIC of 400 Gb/s, not four NICs of 100 Gb/s. Lanes
counted as NICs give the node a quarter of its bandwidth, or four times its NICs.

## What to do

State the number of NICs and the rate of one port.

## When to ignore it

Ignore it for NICs that run at one lane, such as those for storage; they are not suited to collectives.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 100 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 400 Gb/s}
```

## Sources

- A table that counts NICs in some rows and lanes in others: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L566
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
