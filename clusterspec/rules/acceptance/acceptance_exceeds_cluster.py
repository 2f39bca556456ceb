"""An acceptance test needs more nodes than the cluster has, or more runs than the test makes.

## What it finds

An entry with more `nodes` or `ranks` than the cluster, spares included; with a `scope` of more nodes than the cluster
without spares, or of fewer than the test uses; or with a `pass` that requires more runs than the test makes.

## Why it matters

The test cannot be run, so the clause proves nothing.

## What to do

Use fewer nodes, ranks or runs.

## When to ignore it

Ignore it where the test is to run on a later extension of the cluster.

## Fires

```yaml acceptance[0].nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, spare_nodes: 1}
acceptance:
  - {collective: all-reduce, nodes: 16, size: 8 GiB, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, spare_nodes: 1}
acceptance:
  - {collective: all-reduce, nodes: 9, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- Tests at scale: https://aidatacenterguide.com/part-13-commissioning-and-go-live/13-9-cluster-scale-benchmarking-reference-training-and-storage-scheduler-validat
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    there = cluster.all_nodes
    for number, test in enumerate(acceptance):
        yield from _run_problems(("acceptance", number), test)
        yield from _node_set_problems(("acceptance", number), test, cluster)
        if test.nodes is not None and test.nodes > there:
            message = f"a test over {test.nodes:,} nodes cannot run on a cluster of {there:,}"
            yield RULE.problem(("acceptance", number, "nodes"), message, f"use at most {there:,}")
        elif test.ranks is not None and test.nodes is not None and test.ranks < test.nodes:
            message = f"{plural(test.ranks, 'rank')} cannot lie on {test.nodes:,} nodes: each has at least one"
            help_ = f"write {test.nodes * cluster.ranks_per_node:,}, all ranks of these nodes"
            yield RULE.problem(("acceptance", number, "ranks"), message, help_)
        elif test.ranks is not None and test.ranks > there * cluster.ranks_per_node:
            message = f"a test over {test.ranks:,} ranks cannot run on a cluster of {there * cluster.ranks_per_node:,}"
            yield RULE.problem(
                ("acceptance", number, "ranks"), message, f"use at most {there * cluster.ranks_per_node:,}"
            )


def _run_problems(path: Path, test: AcceptanceSpec) -> Iterator[Problem]:
    passes, runs = test.required_runs or (1, 1)
    if passes > runs:
        message = f"`pass: {test.passes}` requires {passes:,} of {plural(runs, 'run')}: nothing can pass"
        yield RULE.problem((*path, "pass"), message, f"write at most `{runs} of {runs}`")


def _node_set_problems(path: Path, test: AcceptanceSpec, cluster: Cluster) -> Iterator[Problem]:
    each, tested = test.set_nodes, test.nodes or -(-(test.ranks or 1) // cluster.ranks_per_node)
    if each is None:
        return
    if each > cluster.nodes:
        message = f"`scope: {test.scope}` gives no set of nodes: the cluster has {plural(cluster.nodes, 'node')}"
        yield RULE.problem((*path, "scope"), message, f"use sets of at most {plural(cluster.nodes, 'node')}")
    elif each < tested:
        message = f"a test over {plural(tested, 'node')} cannot run on sets of {each:,} (`scope: {test.scope}`)"
        yield RULE.problem((*path, "scope"), message, f"write `scope: every-{tested}-nodes`")
