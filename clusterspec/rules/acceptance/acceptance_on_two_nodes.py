"""An all-reduce over two nodes does not test the fabric.

## What it finds

An all-reduce test over two nodes (in two domains) without `algorithm: ring`: a warning. It is a note where the required
bandwidth is at least 80 % of the prediction, which accounts for the tree; where the machine has only two nodes, or plans
no traffic between nodes; or where another test requires at least 90 % of the bandwidth over four nodes or more.

## Why it matters

On two nodes NCCL uses a tree, and each byte crosses the NICs once per direction. Bus bandwidth is computed for a ring,
where each byte crosses nearly twice: the figure can exceed the NIC line rate, and a fabric at two thirds of its rate
passes.

## What to do

Use four nodes or more, or `algorithm: ring` (`NCCL_ALGO=Ring`).

## When to ignore it

Ignore it for a pairwise sweep that finds faulty cables; send-recv is the better test for that.

## Fires

```yaml acceptance[0].nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 340 GB/s, algorithm: ring}
```

## Sources

- Two nodes above the NICs: https://github.com/NVIDIA/nccl-tests/issues/22 https://github.com/NVIDIA/nccl-tests/issues/169 https://github.com/NVIDIA/nccl-tests/issues/290
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import (
    PLATEAU,
    RECOMMENDED,
    bus_bandwidth,
    is_repeated_wider,
    predicted_collective,
)
from clusterspec.rules.parts import Placements, may_use_nics
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec

RULE = Rule.of(__name__, "warning")


def check(
    acceptance: tuple[AcceptanceSpec, ...],
    cluster: Cluster,
    placements: Placements | None,
    layout: Layout | None,
    workload: Workload | None,
) -> Iterator[Problem]:
    two_domains = 2 * cluster.accelerators_per_node > cluster.scale_up.domain
    for number, test in enumerate(acceptance):
        if test.collective == "all-reduce" and test.nodes == 2 and test.algorithm != "ring" and two_domains:
            message = "on two nodes, tree bus bandwidth can exceed NIC line rate, so a slow fabric passes"
            tested = is_repeated_wider(test, acceptance, cluster)
            few = cluster.all_nodes <= 2 or not may_use_nics(placements, layout, workload)
            severity = "note" if few or tested or _fails_slow_fabric(test, cluster) else ""
            help_ = "use four nodes or more, or `algorithm: ring`"
            yield RULE.problem(("acceptance", number, "nodes"), message, help_, severity=severity)


def _fails_slow_fabric(test: AcceptanceSpec, cluster: Cluster) -> bool:
    """Whether a test requires enough of the predicted bandwidth (tree included) that a slow fabric fails."""
    asked = bus_bandwidth(test, cluster)
    best = predicted_collective(test, cluster, test.size.value if test.size else PLATEAU)
    return asked is not None and best is not None and asked >= RECOMMENDED[0] * best.busbw
