"""A bandwidth is off by a factor of eight: bits for bytes, or bytes for bits.

## What it finds

A stated bandwidth that is 8 times the catalog's figure (within 5 %) and written in bytes, or 1/8 of it and written in
bits. It is compared with the accelerator's figure first, then the platform's, then the interconnect's. A line rate in
GB/s with the number of a port in Gb/s, such as `100 GB/s`, is reported where it exceeds the NICs that are usual with
the machine.

## Why it matters

With `400 GB/s` for a 400 Gb/s NIC the fabric is planned as fast as NVLink: a gradient reduction that takes 560 ms
is planned at 70 ms.

## What to do

Line rates of NICs are in Gb/s, scale-up bandwidth in GB/s. Where a node has eight accelerators or NICs, the figure may
also be the total of the node: both readings are then listed.

## When to ignore it

Ignore it when the part is newer than the catalog and eight times faster.

## Fix safety

The fix is safe: it writes the figure that the message proposes, in the convention of the key. The rule offers a fix
only where a single mistake explains the stated figure, so that it has one reading.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 400 GB/s}
```

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 Gb/s duplex}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 7.2 Tb/s duplex}
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 50 GB/s}
```

## Sources

- NCCL's maintainers on a figure off by a factor of eight: https://github.com/NVIDIA/nccl/issues/243
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
