"""The host memory is small against the memory of the accelerators.

## What it finds

`host_memory` below half of the memory of the node's accelerators: a warning. With asynchronous checkpoints, weights and
optimizer states of the node's accelerators above 80 % of the host memory: a warning, and an error above all of it. Where
states are offloaded, `offload-exceeds-host-memory` counts both.

## Why it matters

Data loading, checkpoints, loading of weights and caches pass through host memory. Asynchronous saving keeps a copy of
the states there while it writes. Systems are sold with host memory of 0.8 to 3 times the memory of their accelerators.

## What to do

Use nodes with more memory; for checkpoints also more ranks that share the states, or synchronous saving.

## When to ignore it

Ignore it for nodes that serve a model whose weights another node loads.

## Fires

```yaml cluster.host_memory
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, host_memory: 256 GB}
```

```yaml operations.checkpoint.mode
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 500 GB}
workload: {model: codellama-34b, sequence_length: 4096, global_batch: 64}
layout: {tp: 8, sharding: none, recompute: full}
operations: {checkpoint: {interval: 30 min, pause: 5 s, mode: asynchronous}, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, host_memory: 2 TB}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 1}
operations: {checkpoint: {interval: 30 min, pause: 5 s, mode: asynchronous}, burn_in: 72 h}
```

## Sources

- Memory of systems: the platforms of the catalog
- The copy in host memory: https://glennklockwood.com/garden/checkpointing
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import display, percent, rounded_up

RULE = Rule.of(__name__, "warning", "likely", yields_to=("unusual-value",))
LEAST = 0.5
"""Host memory over the memory of the accelerators: DGX B300, the lowest of the catalog's systems, has 0.87."""
MOST = 0.80
"""Share of the host memory that is available for copies; the operating system, data loaders and pinned buffers use the
rest.
"""


def check(cluster: Cluster, operations: OperationsSpec | None, plan: Plan | None) -> Iterator[Problem]:
    if cluster.host_memory is None:
        return
    host, each = cluster.host_memory.value, cluster.accelerator.memory
    device = each.value * cluster.accelerators_per_node if each else 0.0
    if host < LEAST * device:
        message = f"{display(host, 'B')} of host memory are {percent(host / device, 2)} of the {display(device, 'B')} of the {cluster.accelerators_per_node} accelerators of a node"
        yield RULE.problem(
            "cluster.host_memory", message, f"use nodes with {display(rounded_up(device), 'B')} of memory or more"
        )
    if operations is not None and operations.is_asynchronous:
        yield from _staging_problem(host, cluster, plan)


def _staging_problem(host: float, cluster: Cluster, plan: Plan | None) -> Iterator[Problem]:
    """The problem of a copy of the states for asynchronous saving that does not fit in host memory."""
    memory = plan.memory if plan else None
    layout = plan.design.layout if plan else None
    if memory is None or layout is None or layout.offload_optimizer:
        return
    needed = (memory.weights.value + memory.optimizer.value) * cluster.accelerators_per_node
    if needed > MOST * host:
        message = f"the copy of weights and optimizer states for asynchronous saving takes {display(needed, 'B')} per node, {percent(needed / host, 2)} of the {display(host, 'B')} of host memory"
        help_ = "use nodes with more memory, shard the optimizer over more ranks, or save synchronously"
        severity = "error" if needed > host else "warning"
        yield RULE.problem("operations.checkpoint.mode", message, help_, severity=severity)
