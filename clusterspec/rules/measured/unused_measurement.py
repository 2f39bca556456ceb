"""A measurement lacks a value without which it cannot be used.

## What it finds

A measured entry, or its log, without its collective, its number of ranks or its size; with sizes below 256 MiB only; or
with ranks that leave NICs of their nodes idle. A measured step that would need a GEMM rate below a quarter or above
twice the catalog's is a warning, and an error where the step takes less than half of its time at twice that rate. A
step in a spec without a training job, or in a fleet of several jobs, is a note. The same holds for a measured time per
output token and the rate of an engine's kernels. A measured rate of GEMMs is an error above the peak of its precision,
a warning below a quarter of the catalog's rate in training, and a note in a serving spec.

## Why it matters

Measurements replace the efficiencies of the catalog. A measurement that is not used leaves the prediction unchanged.

## What to do

State `collective` and `ranks` with the log (logs without a header, or run with `-c 0`, do not distinguish an all-gather
from an all-to-all); test up to 8 GiB, with all ranks of each node.

## When to ignore it

Ignore it where the measurement is kept as a record.

## Fires

```yaml measured[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: unchecked.txt}
```

```yaml measured[0].size
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {collective: all-reduce, nodes: 2, size: 64 MiB, busbw: 205 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: unchecked.txt, collective: all-gather}
```

## Sources

- Sizes and the plateau: https://github.com/NVIDIA/nccl-tests/issues/212
- What a test prints: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import LEAST_SIZE, Measurement, leaves_nics_idle
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import MeasuredSpec, Spec
from clusterspec.units import display

RULE = Rule.of(__name__, "note")


def check(
    spec: Spec, measurements: tuple[Measurement, ...], measured: tuple[MeasuredSpec, ...], cluster: Cluster
) -> Iterator[Problem]:
    for measurement in measurements:
        written, at = measured[measurement.index], ("measured", measurement.index)
        if spec.unreadable(at) or not (written.log or written.busbw or written.algbw):
            continue
        if lacks := list(_missing_inputs(measurement, written)):
            message = f"the measurement lacks {' and '.join(lacks)}, so it is not used"
            yield RULE.problem(at, message, "name `collective`, `ranks` and `size`")
        elif measurement.largest and measurement.largest.size < LEAST_SIZE:
            size, least = display(measurement.largest.size, "B"), display(LEAST_SIZE, "B")
            message = (
                f"{size} is below {least}, where latency takes as much time as bandwidth: the measurement is not used"
            )
            yield RULE.problem((*at, "log" if written.log else "size"), message, "test up to 8 GiB")
        elif leaves_nics_idle(cluster, measurement):
            message = "its ranks leave NICs of their nodes idle: the measurement is not used"
            yield RULE.problem((*at, "ranks" if written.ranks else "log"), message, "test with all ranks of each node")


def _missing_inputs(measurement: Measurement, written: MeasuredSpec) -> Iterator[str]:
    if measurement.collective is None:
        yield "its collective"
    if measurement.ranks is None:
        yield "its number of ranks"
    if written.size is None and written.log is None:
        yield "its size"
