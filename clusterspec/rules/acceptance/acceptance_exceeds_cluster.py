"""An acceptance test needs more nodes or memory than there are, or more runs than it makes.

## What it finds

These are errors:

- more `nodes` or `ranks` than the cluster has, spares included
- a `scope` of more nodes than the cluster has without spares, or of fewer nodes than the test uses
- more `ranks` than the `nodes` of the test have
- a `size` whose send and receive buffers exceed the memory of an accelerator
- a `pass` that requires more runs than the test makes

It is a warning if the `nodes` have unequal numbers of `ranks`, or if the ranks of a node do not divide the ranks that a
full node has.

## Why it matters

The test cannot be run, so the clause proves nothing.

## What to do

Use fewer nodes, ranks, bytes or runs.

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

- Two buffers for each rank: https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu (AllocateBuffs)
- Tests at scale: https://aidatacenterguide.com/part-13-commissioning-and-go-live/13-9-cluster-scale-benchmarking-reference-training-and-storage-scheduler-validat
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")
BUFFERS = 2
"""Number of buffers of a message's size that nccl-tests and rccl-tests allocate on each rank: to send and to receive.
"""


def check(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster) -> Iterator[Problem]:
    there = cluster.all_nodes
    for number, test in enumerate(acceptance):
        yield from _run_problems(("acceptance", number), test)
        yield from _buffer_problems(("acceptance", number), test, cluster)
        yield from _node_set_problems(("acceptance", number), test, cluster)
        if test.nodes is not None and test.nodes > there:
            message = f"a test over {test.nodes:,} nodes cannot run on a cluster of {there:,}"
            yield RULE.problem(("acceptance", number, "nodes"), message, f"use at most {there:,}")
        elif test.ranks is not None:
            yield from _rank_problems(("acceptance", number, "ranks"), test.ranks, test.nodes, cluster)


def _rank_problems(path: Path, ranks: int, nodes: int | None, cluster: Cluster) -> Iterator[Problem]:
    """Problems of a number of ranks that the nodes of a test do not hold evenly, or that exceeds the ranks of these
    nodes or of the cluster.
    """
    all_ranks = (nodes or cluster.all_nodes) * cluster.ranks_per_node
    if nodes is not None and _spreads_unevenly(ranks, nodes, cluster):
        yield _uneven_ranks_problem(path, ranks, nodes, all_ranks)
    elif nodes is not None and ranks > all_ranks:
        message = f"a test over {ranks:,} ranks cannot run on {plural(nodes, 'node')} of {cluster.ranks_per_node} ranks"
        yield RULE.problem(path, message, f"write `ranks: {all_ranks}`, or the nodes that hold {ranks:,} ranks")
    elif ranks > all_ranks:
        message = f"a test over {ranks:,} ranks cannot run on a cluster of {all_ranks:,}"
        yield RULE.problem(path, message, f"use at most {all_ranks:,}")


def _spreads_unevenly(ranks: int, nodes: int, cluster: Cluster) -> bool:
    """Whether the ranks of a test cannot be spread evenly: the nodes do not divide them, or the ranks per node do not
    divide the ranks of a full node.

    The function does not judge more ranks per node than a node has.
    """
    each = ranks // nodes
    return ranks % nodes > 0 or (each < cluster.ranks_per_node and cluster.ranks_per_node % each > 0)


def _uneven_ranks_problem(path: Path, ranks: int, nodes: int, all_ranks: int) -> Problem:
    """The problem of ranks that cannot be spread evenly over the nodes; an error if there are fewer ranks than nodes,
    else a warning.
    """
    help_ = f"write {all_ranks:,}, all ranks of these nodes"
    if ranks < nodes:
        message = f"{plural(ranks, 'rank')} cannot lie on {nodes:,} nodes: each has at least one"
        return RULE.problem(path, message, help_)
    message = f"{ranks:,} ranks do not lie evenly on {plural(nodes, 'node')}, which {'has' if nodes == 1 else 'have'} {all_ranks:,}"
    return RULE.problem(path, message, help_, severity="warning")


def _buffer_problems(path: Path, test: AcceptanceSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a message whose send and receive buffers together exceed the memory of one accelerator."""
    memory = cluster.accelerator.memory
    if test.size is None or memory is None or BUFFERS * test.size.value <= memory.value:
        return
    message = (
        f"messages of {test.size.written} need {BUFFERS} buffers of that size on each rank, but {cluster.accelerator.name} "
        f"has {display(memory.value, 'B')}"
    )
    yield RULE.problem((*path, "size"), message, "write `size: 8 GiB`, at which bandwidth no longer grows with size")


def _run_problems(path: Path, test: AcceptanceSpec) -> Iterator[Problem]:
    passes, runs = test.required_runs or (1, 1)
    if passes > runs:
        message = f"`pass: {test.passes}` requires {passes:,} of {plural(runs, 'run')}: nothing can pass"
        yield RULE.problem((*path, "pass"), message, f"write at most `{runs} of {runs}`")


def _node_set_problems(path: Path, test: AcceptanceSpec, cluster: Cluster) -> Iterator[Problem]:
    each, tested = test.set_nodes, test.nodes or cluster.nodes_of_ranks(test.ranks or 1)
    if each is None:
        return
    if each > cluster.nodes:
        message = f"`scope: {test.scope}` gives no set of nodes: the cluster has {plural(cluster.nodes, 'node')}"
        yield RULE.problem((*path, "scope"), message, f"use sets of at most {plural(cluster.nodes, 'node')}")
    elif each < tested:
        message = f"a test over {plural(tested, 'node')} cannot run on sets of {each:,} (`scope: {test.scope}`)"
        yield RULE.problem((*path, "scope"), message, f"write `scope: every-{tested}-nodes`")
