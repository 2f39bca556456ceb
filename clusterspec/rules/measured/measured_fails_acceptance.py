"""A stated measurement does not reach the bandwidth that the acceptance test requires.

## What it finds

A collective in `measured` with a bus bandwidth below that of an entry of `acceptance` for the same collective and as many
ranks, at messages at least as large.

## Why it matters

The machine as measured would fail its own test: either it has a fault, or the clause demands more than such machines
reach.

## What to do

Repair the machine and measure again before acceptance, or correct the figure that is wrong. If the measurement comes
from another machine, remove it.

## When to ignore it

Ignore it for a measurement from before a repair that the file keeps for comparison.

## Fires

```yaml measured[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
measured:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 430 GB/s}
acceptance:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 460 GB/s, pass: 1 of 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
measured:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 475 GB/s}
acceptance:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 460 GB/s, pass: 1 of 1}
```

## Sources

- Limits that operators test nodes against: https://github.com/Azure/azurehpc-health-checks
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import Measurement
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import bus_bandwidth, measurement_name, metric_key, ranks_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning")


def check(
    measurements: tuple[Measurement, ...], acceptance: tuple[AcceptanceSpec, ...], rated: Cluster
) -> Iterator[Problem]:
    for measurement in measurements:
        row = measurement.largest
        if row is None:
            continue
        for number, test in enumerate(acceptance):
            asked = bus_bandwidth(test, rated)
            same = test.collective == measurement.collective and ranks_of(test, rated) == measurement.ranks
            if not same or asked is None or row.busbw >= asked or (test.size and test.size.value > row.size):
                continue
            at = f"acceptance[{number}].{metric_key(test)}"
            yield RULE.problem(
                measurement.at,
                f"{measurement_name(measurement)}: {display(row.busbw, 'B/s')} is measured, but `{at}` requires {display(asked, 'B/s')}",
                "find the fault before the acceptance, or correct the figure that is wrong",
                related=[(f"acceptance.{number}.{metric_key(test)}", f"requires {display(asked, 'B/s')}")],
            )
            break
