"""The stated cold start is shorter than the time to read the weights.

## What it finds

A `scaling.cold_start` shorter than the time in which the nodes of one engine read its weights from the storage system:
at its `read` bandwidth, or at the rate of these nodes (`per_client`): an error. It is a warning where only the engines that start together, as the
load of the `day` rises, take longer: they share the bandwidth.

## Why it matters

A cold start reads the weights, compiles kernels and captures graphs; the reading alone is a lower bound. 671 GB at 5
GB/s take 134 s. Engines that start 45 s before the load rises in the morning serve 90 s late, and requests wait
meanwhile.

## What to do

State the measured time, raise the bandwidth of a client, keep weights on local drives, or keep more engines running.

## When to ignore it

Ignore it where weights stay in host memory or on local drives between starts.

## Fires

```yaml workload.serving.scaling.cold_start
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  networks: {storage: {bandwidth: 40 GB/s, per_client: 2 GB/s}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 2000
    output_tokens: 300
    day: [{from: "08:00", to: "20:00", request_rate: 12}, {from: "20:00", to: "08:00", request_rate: 1}]
    scaling: {cold_start: 30 s, ahead: 5 min}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  networks: {storage: {bandwidth: 40 GB/s, per_client: 10 GB/s}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 2000
    output_tokens: 300
    day: [{from: "08:00", to: "20:00", request_rate: 12}, {from: "20:00", to: "08:00", request_rate: 1}]
    scaling: {cold_start: 30 s, ahead: 5 min}
layout: {framework: vllm, tp: 8}
```

## Sources

- Parts of the time to start engines of large models: https://arxiv.org/abs/2401.14351
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import engine_load
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.checkpoints import ROUNDED
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


def check(served: Served) -> Iterator[Problem]:
    if served.plan.day is None:
        return
    work = served.design.spec.workload
    scaling = work.serving.scaling if work is not None and work.serving is not None else None
    stated = scaling.cold_start if scaling is not None else None
    load = engine_load(served.plan) if stated is not None else None
    if stated is None or load is None:
        return
    if stated.value >= load.seconds.value * (1 - ROUNDED):
        yield from _joint_start_problem(served.plan, stated)
        return
    yield RULE.problem(
        f"{LOAD}.scaling.cold_start",
        f"an engine reads weights of {display(load.size.value, 'B')} at {display(load.rate.value, 'B/s')} for {display(load.seconds.value, 's')}, "
        f"but is to serve after {stated.written}",
        "state the measured time, use faster storage, or keep the weights on local drives",
    )


def _joint_start_problem(plan: Plan, stated: Quantity) -> Iterator[Problem]:
    """The problem of engines that start together and read their weights in longer than the cold start that is stated."""
    replicas = [each.replicas + each.prefill for each in plan.day.hours] if plan.day is not None else []
    started = max((after - before for before, after in pairwise([*replicas[-1:], *replicas])), default=0)
    load = engine_load(plan, started) if started > 1 else None
    if load is None or stated.value >= load.seconds.value * (1 - ROUNDED):
        return
    yield RULE.problem(
        f"{LOAD}.scaling.cold_start",
        f"{started} engines start together as the load rises and read {display(load.size.value, 'B')} at {display(load.rate.value, 'B/s')} "
        f"for {display(load.seconds.value, 's')}, but are to serve after {stated.written}",
        "start them earlier (`scaling.ahead`), use faster storage, or keep the weights on local drives",
        severity="warning",
    )
