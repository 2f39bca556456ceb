"""A measurement is well below the prediction for this machine.

## What it finds

At 1 GiB and more, a bus bandwidth below 90 % of the plateau predicted for the collective and tier, and below the range
of that prediction: a warning, and an error below half of the low end of the range. The rule is silent where a fallback
to sockets or a wrong stated bandwidth explains it.

## Why it matters

The machine has a fault or a wrong setting: usually a failed rail, a cable at half width, GPUDirect RDMA off, wrong NIC
affinity, or PCIe ACS on.

## What to do

Check `nvidia-smi topo -m`, link widths and rates, `NCCL_DEBUG=INFO` (look for `GDRDMA` and the NICs of each channel),
then node by node in pairs.

## When to ignore it

Ignore it on a shared fabric, or where another algorithm was forced for the test.

## Fires

```yaml measured[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 200 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 370 GB/s}
```

## Sources

- Slow rails found by test: https://github.com/NVIDIA/nccl-tests/issues/169
- Direct access to memory missing: https://github.com/NVIDIA/nccl/issues/1412
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import Measurement, expected_cost, leaves_nics_idle
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import GIB, SOCKETS, measurement_name
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("measured-suggests-duplex-mistake",))
LEAST = 0.90
A_HALF = 0.5
"""Lost share of the bandwidth, relative to the low end of the range, that tuning cannot explain: rails or links are
missing.
"""


def check(measurements: tuple[Measurement, ...], rated: Cluster) -> Iterator[Problem]:
    for measurement in measurements:
        row = measurement.largest
        if row is None or row.size < GIB or leaves_nics_idle(rated, measurement):
            continue
        usual = expected_cost(rated, measurement, row.size)
        if usual is None or row.busbw >= min(LEAST, usual.seconds / usual.high) * usual.busbw:
            continue
        if usual.tier == "scale-out" and row.busbw < SOCKETS * usual.ceiling_busbw:
            continue
        yield RULE.problem(
            measurement.at,
            f"{measurement_name(measurement)}: {display(row.busbw, 'B/s')} is {percent(row.busbw / usual.busbw, 2)} of the "
            f"{display(usual.busbw, 'B/s')} predicted for this machine",
            "check link widths, rails and NIC affinity, and that NCCL_DEBUG=INFO prints GDRDMA on every channel",
            severity="error" if 1 - row.busbw * usual.high / usual.seconds / usual.busbw >= A_HALF else "",
        )
