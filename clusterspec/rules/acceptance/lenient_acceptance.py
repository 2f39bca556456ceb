"""An acceptance threshold is so low that a faulty fabric passes.

## What it finds

At 1 GiB and more, a `busbw` below 70 % of both the ceiling and the prediction: a note, and a warning below 40 %. Below
40 % it stays a note in four cases:

- no traffic of the planned work crosses the tested links
- the figure is at least 70 % of what rings reach without reduction in the switches of the fabric
- a scale-up domain has several nodes, and the figure is at least 70 % of the rate of the NICs of one node
- the test is an all-reduce over two nodes, and another one over four nodes or more has the same limit

It is an error where the figure counts bits and would be a usual threshold in bytes, since benchmarks print bytes. A
test between nodes of one domain that asks for the rate of the NICs is not compared. The rule also reports a `pass` of
less than 80 % of the runs, and a `duration` below one minute.

## Why it matters

A fabric with a failed rail, without adaptive routing or without GPUDirect RDMA still reaches half of its ceiling.
Faults that pass acceptance remain in the machine. Buyers often set limits of half the ceiling on purpose, so only less
is a warning.

## What to do

Demand 80 to 90 % of the predicted bandwidth.

## When to ignore it

Ignore it for shared fabrics, where other jobs run during the test.

## Fires

```yaml acceptance[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 100 GB/s}
```

```yaml acceptance[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- Floors in public health checks: https://github.com/awslabs/awsome-distributed-training/blob/0edaf1526bc47185ce5f827100416f99bd7b69e1/4.validation_and_observability/2.gpu-cluster-healthcheck/checks/5-nccl-allreduce.sh#L30
- What is reached: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1457
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.knowledge.benchmarks import (
    GIB,
    bus_bandwidth,
    is_repeated_wider,
    measures_adapters,
    metric_key,
    predicted_collective,
    ranks_of,
    recommended_threshold,
    test_name,
)
from clusterspec.rules.parts import Placements, may_use_nics
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
LEAST = 0.40
"""A threshold below this share of the prediction passes a fabric that lacks most of its links."""
NOTED = 0.70
"""A threshold below this share passes a fabric that lacks two of eight rails."""
SHORT = 60.0
"""Duration of a test in seconds below which links have not warmed up and rare link errors are not likely to show."""
MOST_PASS = 0.8
"""Share of the runs that must pass."""


def check(
    acceptance: tuple[AcceptanceSpec, ...],
    rated: Cluster,
    placements: Placements | None,
    layout: Layout | None,
    workload: Workload | None,
) -> Iterator[Problem]:
    idle = not may_use_nics(placements, layout, workload)
    for number, test in enumerate(acceptance):
        yield from _repetition_problems(number, test)
        if test.size is None or test.size.value < GIB:
            continue
        asked, best = bus_bandwidth(test, rated), predicted_collective(test, rated, test.size.value)
        if asked is None or best is None or measures_adapters(test, rated):
            continue
        lower = min(best.ceiling_busbw, best.busbw)  # some collectives are predicted far below their ceiling
        if asked >= NOTED * lower:
            continue
        share, written = percent(asked / best.ceiling_busbw, 2), test.busbw or test.algbw
        pair = test.nodes == 2 and test.collective == "all-reduce"
        suffices = (pair and is_repeated_wider(test, acceptance, rated)) or _suits_rings(test, asked, rated)
        suffices = suffices or _fits_nics_of_node(test, asked, rated)
        suffices = suffices or (idle and (ranks_of(test, rated) or 0) > rated.ranks_per_domain)
        meant_bytes = written is not None and written.bits and NOTED * lower <= 8 * asked <= best.ceiling_busbw
        yield RULE.problem(
            ("acceptance", number, metric_key(test)),
            f"{test_name(test, rated)}: {display(asked, 'B/s')} is only {share} of the {display(best.ceiling_busbw, 'B/s')} that the links carry: a faulty fabric passes",
            f"{'write bytes per second, not bits: ' if meant_bytes else ''}demand {recommended_threshold(best, test)}",
            severity="error" if meant_bytes else "warning" if asked < LEAST * lower and not suffices else "note",
        )


def _suits_rings(test: AcceptanceSpec, asked: float, cluster: Cluster) -> bool:
    """Whether a figure is for the rings of a fabric that can also reduce in its switches."""
    fabric = cluster.scale_out
    if test.collective != "all-reduce" or test.algorithm or fabric is None or not fabric.in_network_reduction:
        return False
    rings = predicted_collective(replace(test, algorithm="ring"), cluster, GIB)
    return rings is not None and asked >= NOTED * min(rings.busbw, rings.ceiling_busbw)


def _fits_nics_of_node(test: AcceptanceSpec, asked: float, cluster: Cluster) -> bool:
    """Whether a figure for several multi-node scale-up domains fits rings through the NICs of one node; the NICs of a
    whole domain carry more together.
    """
    fabric, ranks = cluster.scale_out, ranks_of(test, cluster) or 0
    if fabric is None or not cluster.ranks_per_node < cluster.ranks_per_domain < ranks:
        return False
    return asked >= NOTED * fabric.node_bandwidth


def _repetition_problems(number: int, test: AcceptanceSpec) -> Iterator[Problem]:
    """Problems of a test that faulty links pass because some runs may fail or because it is too short."""
    counted = test.required_runs
    if counted is not None and 0 < counted[0] < MOST_PASS * counted[1]:
        message = f"{counted[1] - counted[0]} of {counted[1]} runs may fail: a link that fails at times passes"
        yield RULE.problem(("acceptance", number, "pass"), message, f"demand `{counted[1]} of {counted[1]}`")
    if test.duration is not None and 0 < test.duration.value < SHORT:
        message = f"a test of {test.duration.written} ends before links are warm and before a rare error shows"
        yield RULE.problem(("acceptance", number, "duration"), message, "demand an hour or more")
