"""A restart is planned faster than the checkpoint can be read.

## What it finds

`operations.restart_time` more than 10 % below the time in which the nodes of the job read weights and optimizer states
back (an error), or below 30 seconds for a job of 16 nodes or more (a warning).

## Why it matters

A restart includes detection of the failure, replacement of the node, start of processes and communicators, and reading
the checkpoint on all ranks. Published restarts take minutes, and every failure costs the difference.

## What to do

Plan some minutes, or cite the log of a restart.

## When to ignore it

Ignore it where ranks restart in place from copies in memory.

## Fires

```yaml operations.restart_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 2}
operations: {checkpoint_interval: 1 h, checkpoint_time: 20 s, restart_time: 5 s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 2}
operations: {checkpoint_interval: 1 h, checkpoint_time: 20 s, restart_time: 5 min}
```

## Sources

- Detection, scheduling and loading after a failure take minutes: https://arxiv.org/abs/2402.15627
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import ROUNDED, stored_checkpoint_time
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "warning", "heuristic")
LEAST, LARGE = 30.0, 16


def check(
    operations: OperationsSpec,
    training: Workload,
    networks: NetworksSpec | None,
    model: Model,
    job_nodes: int | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    restart = operations.restart_time
    if restart is None or training.trainable is not None:
        return
    read = stored_checkpoint_time(networks, model, training, layout, reads=True)
    severity = ""
    if read is not None and read.seconds * (1 - ROUNDED) > restart.value:
        message = f"{display(read.size, 'B')} of weights and states, read at {read.store}, take {display(read.seconds, 's')}, longer than the restart of {restart.written}"
        severity = "error"
    elif restart.value < LEAST and (job_nodes or 0) >= LARGE:
        message = f"a restart of {plural(job_nodes or 0, 'node')} in {restart.written} leaves no time to start processes and to read a checkpoint"
    else:
        return
    yield RULE.problem(
        "operations.restart_time", message, "plan more time, or cite the log of a restart", severity=severity
    )
