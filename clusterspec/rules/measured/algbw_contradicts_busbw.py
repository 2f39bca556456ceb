"""The stated bus and algorithm bandwidths contradict each other.

## What it finds

`busbw` and `algbw` in one entry of `measured` or `acceptance`, whose ratio differs from the one in nccl-tests: 2 (n −
1) / n for an all-reduce on n ranks, (n − 1) / n for an all-gather, a reduce-scatter and an all-to-all, else 1.

## Why it matters

One of the bandwidths, the collective or the number of ranks is wrong.

## What to do

Copy both from one line of the log, or state only one.

## When to ignore it

Do not ignore it.

## Fires

```yaml measured[0].algbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 240 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 271 GB/s}
```

## Sources

- The factors: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import bus_factor
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import AcceptanceSpec, MeasuredSpec, Spec
from clusterspec.units import plain

RULE = Rule.of(__name__, "error")
ROUNDED = 0.02


def check(spec: Spec, cluster: Cluster) -> Iterator[Problem]:
    if not (spec.measured or spec.acceptance):
        return
    for at, entry in _bandwidth_entries(spec):
        ranks = entry.ranks or (entry.nodes or 0) * cluster.ranks_per_node
        if entry.busbw is None or entry.algbw is None or entry.collective is None or ranks < 2:
            continue
        ratio, right = entry.busbw.per_direction / entry.algbw.per_direction, bus_factor(entry.collective, ranks)
        if not isclose(ratio, right, rel_tol=ROUNDED):
            yield RULE.problem(
                (*at, "algbw"),
                f"{entry.busbw.written} is {plain(ratio)} times {entry.algbw.written}; {entry.collective} on {ranks:,} ranks has a factor of {plain(right, 4)}",
                "copy both from one line of the log, or state only one",
                related=[(".".join(map(str, (*at, "busbw"))), "the other figure")],
            )


def _bandwidth_entries(spec: Spec) -> Iterator[tuple[Path, MeasuredSpec | AcceptanceSpec]]:
    for index, seen in enumerate(spec.measured or ()):
        yield ("measured", index), seen
    for index, asked in enumerate(spec.acceptance or ()):
        yield ("acceptance", index), asked
