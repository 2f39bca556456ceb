"""The failure of a single part slows the job down by more than its target.

## What it finds

A part whose loss leaves bandwidth (a link, a leaf or a plane of several, an uplink, a spine), after which a step takes
longer by more than `operations.targets.max_single_failure_slowdown`. The step is estimated again on the machine without
that part. The rule does not report parts whose failure stops the job: these cause restarts, which `targets.goodput`
limits. With `recovery: shrink` and no spare node, it also checks the loss of a node, after which the remaining replicas
process the batch until the repair.

The finding is an error where the slowdown is more than twice the target; else it is a warning.

## Why it matters

Nobody restarts a slow job: it runs until the part is replaced, which takes a day. Every collective waits for the
slowest NIC, so one lost plane or uplink slows all nodes.

## What to do

Add uplinks or planes, so that a part carries less, or keep spare nodes to which the job can move. `clusterspec faults`
lists all parts with their steps.

## When to ignore it

Ignore it where jobs move away from a degraded leaf within minutes.

## Fires

```yaml operations.targets.max_single_failure_slowdown
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  spare_nodes: 2
  scale_out: {topology: fat-tree, switch_ports: 64, planes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {tp: 1, sharding: fsdp}
operations: {targets: {max_single_failure_slowdown: 0.05}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  spare_nodes: 2
  scale_out: {topology: fat-tree, switch_ports: 64, planes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {tp: 1, sharding: fsdp}
operations: {targets: {max_single_failure_slowdown: 0.9}}
```

## Sources

- Links, switches and their shares of failures, table 5: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.cost.standby import ONE_NODE
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
AT = "operations.targets.max_single_failure_slowdown"
FAR = 2.0
"""Smallest multiple of the target at which the slowdown is an error."""


def check(operations: OperationsSpec, design: Design, timed: Plan) -> Iterator[Problem]:
    limit = operations.targets.max_single_failure_slowdown if operations.targets else None
    if limit is None or timed.step_seconds is None or design.layout is None:
        return
    from clusterspec.cost.interruptions import share_of_replicas
    from clusterspec.rules.knowledge.failing_parts import FailingMachine

    whole = timed.whole_step.seconds or timed.step_seconds
    machine = FailingMachine(design, whole, timed.parameters)
    steps = [(row.step_time, row.part, row.why) for row in machine.rows(None) if row.step_time is not None]
    if operations.shrinks and machine.waits_for_repair(1, ONE_NODE):
        share = share_of_replicas(design.layout, machine.cluster.ranks_per_node, 1)
        if share < 1:
            left = (
                f"{round(design.layout.dp * (1 - share)):,} of {design.layout.dp:,} replicas are left until the repair"
            )
            steps.append((whole / (1 - share), "node", left))
    slowest, part, why = max(steps, default=(0.0, "", ""))
    loss = slowest / whole - 1
    if loss <= limit:
        return
    message = (
        f"without one {part} ({why}) a step takes {display(slowest, 's')}, {percent(loss, 2)} longer than on the "
        f"whole machine; the target allows {percent(limit, 2)}"
    )
    help_ = "add planes or uplinks, or keep spare nodes that the job can move to; `clusterspec faults` lists all parts"
    yield RULE.problem(AT, message, help_, severity="error" if loss > FAR * limit else "")
