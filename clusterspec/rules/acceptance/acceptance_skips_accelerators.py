"""A test on every node uses only some of the node's accelerators.

## What it finds

A test with a `scope` (`every-1-nodes`) and fewer `ranks` than its nodes have, where no other test covers all
accelerators of every node. Tests of pairs (`send-recv`) are not judged. The rule also reports a test whose runs cover
only whole sets of nodes, so that the remaining nodes are in no set.

## Why it matters

Accelerators and links that no test uses are accepted and paid for untested. A test on half of a mesh does not use the
links to the other half.

## What to do

State as many ranks as the nodes of the test have, or add a test over all of them.

## When to ignore it

Ignore it where burn-in tests all accelerators, and this test is meant for a part of them.

## Fires

```yaml acceptance[0].ranks
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 1, ranks: 4, size: 8 GiB, busbw: 120 GB/s, scope: every-1-nodes}
```

```yaml acceptance[0].scope
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 16}
acceptance:
  - {collective: all-to-all, nodes: 3, ranks: 24, size: 4 GiB, busbw: 38 GB/s, scope: every-3-nodes, pass: 5 of 5}
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
from clusterspec.units import plural

RULE = Rule.of(__name__, "warning", "likely")


def check(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    if not any(test.scope for test in acceptance):
        return
    yield from _left_over_problems(acceptance, cluster)
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


def _left_over_problems(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    """Problems of tests in which some nodes belong to no set, because the size of a set does not divide the number of
    nodes.
    """
    nodes = cluster.nodes
    for number, test in enumerate(acceptance):
        each, runs = test.set_nodes, test.required_runs
        if each is None or runs is None or test.collective == "send-recv":
            continue
        if not nodes % each or not cluster.all_nodes % each or runs[1] != nodes // each:
            continue
        message = f"{runs[1]} sets of {plural(each, 'node')} are {runs[1] * each} of {nodes} nodes: {nodes % each} {'is' if nodes % each == 1 else 'are'} in no set"
        help_ = "use sets of a size that divides the nodes, or add a set of the others"
        yield RULE.problem(("acceptance", number, "scope"), message, help_)
