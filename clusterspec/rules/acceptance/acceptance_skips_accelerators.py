"""A test of every node leaves some of its accelerators out.

## What it finds

A test with a `scope` (`every-1-nodes`) and fewer `ranks` than its nodes have, where no test covers all accelerators of every
node: neither another one with a scope, nor one over all nodes. Tests of pairs (`send-recv`) are not judged.

## Why it matters

Accelerators and links that no test uses are accepted and paid for untested. Half of a mesh shows nothing of the links to the
other half.

## What to do

State as many ranks as the nodes of the test have, or add a test over all of them.

## When to ignore it

Ignore it where burn-in tests all accelerators, and this test is about a part of them.

## Fires

```yaml acceptance[0].ranks
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 1, ranks: 4, size: 8 GiB, busbw: 120 GB/s, scope: every-1-nodes}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 1, ranks: 8, size: 8 GiB, busbw: 280 GB/s, scope: every-1-nodes}
```

## Sources

- Ranks of a test: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import ranks_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    if not any(test.scope for test in acceptance):
        return
    whole = cluster.nodes * cluster.ranks_per_node
    partial = []
    for number, test in enumerate(acceptance):
        ranks, nodes = ranks_of(test, cluster), test.nodes or test.set_nodes
        if ranks is None or nodes is None:
            return  # acceptance-incomplete reports it
        here = nodes * cluster.ranks_per_node
        if ranks >= here and (test.scope or ranks >= whole):
            return
        if test.scope and ranks < here and test.collective != "send-recv":
            partial.append((number, ranks, here))
    for number, ranks, here in partial[:1]:
        message = (
            f"the test uses {ranks:,} of the {here:,} ranks of its nodes, and no test covers the others on every node"
        )
        help_ = f"write `ranks: {here}`, with the bandwidth that they reach"
        yield RULE.problem(("acceptance", number, "ranks"), message, help_)
