"""A measurement suggests that the stated scale-up bandwidth counts both directions.

## What it finds

Inside one domain, at 1 GiB and more, a bus bandwidth of 33 to 46 % of the stated scale-up bandwidth per direction. The
rule is silent where the stated bandwidth is the catalog's.

## Why it matters

Sound machines reach about 80 % of one direction. About 40 % therefore suggests that the stated figure sums both
directions.

## What to do

Halve the stated figure, or add `duplex`.

## When to ignore it

Ignore it where the links are really that slow: the fault is then in the machine, not in the spec.

## Fires

```yaml measured[0].busbw
clusterspec: 1
cluster:
  accelerator: {like: h100-sxm-80gb}
  accelerators_per_node: 8
  nodes: 1
  scale_up: {bandwidth: 1000 GB/s unidirectional}
measured:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 380 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: {like: h100-sxm-80gb}
  accelerators_per_node: 8
  nodes: 1
  scale_up: {bandwidth: 1000 GB/s duplex}
measured:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 380 GB/s}
```

## Sources

- "Only 53 %": https://github.com/NVIDIA/nccl/issues/1442
- The same in nccl-tests: https://github.com/NVIDIA/nccl-tests/issues/149
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.cost.measured import Measurement
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import GIB
from clusterspec.rules.knowledge.stated import stated_figures
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, ScaleUpSpec
from clusterspec.units import display, percent
from clusterspec.units.display import AGREES, agrees_within

RULE = Rule.of(__name__, "warning", "heuristic")
RINGS = ("all-reduce", "all-gather", "reduce-scatter")


def check(
    catalog: Catalog,
    measurements: tuple[Measurement, ...],
    cluster: Cluster,
    written_cluster: ClusterSpec,
    written_scale_up: ScaleUpSpec,
) -> Iterator[Problem]:
    stated = written_scale_up.bandwidth
    if stated is None or stated.direction is None or _is_confirmed_by_catalog(written_cluster, cluster, catalog):
        return
    for measurement in measurements:
        row, ranks = measurement.largest, measurement.ranks
        if row is None or row.size < GIB or measurement.collective not in RINGS or not ranks:
            continue
        share = row.busbw / stated.per_direction
        if 2 < ranks <= cluster.ranks_per_domain and 0.33 <= share <= 0.46:
            yield RULE.problem(
                measurement.at,
                f"{display(row.busbw, 'B/s')} is {percent(share, 2)} of the stated {stated.written}, and {percent(2 * share, 2)} of half of it",
                "check whether the stated figure counts both directions",
                related=[("cluster.scale_up.bandwidth", "the stated figure")],
            )


def _is_confirmed_by_catalog(written: ClusterSpec, cluster: Cluster, catalog: Catalog) -> bool:
    """Whether the catalog has the stated figure for this machine."""
    return any(
        agrees_within(figure.quantity.value, figure.counted_figure(known), AGREES)
        for figure in stated_figures(written, cluster, catalog)
        if figure.kind == "scale-up"
        for known in figure.known
    )
