"""Offloaded states and activations exceed the host memory.

## What it finds

Optimizer states and activations on the host, for all accelerators of a node, that exceed the stated
`cluster.host_memory`: an error, and a warning above 80 % of it. DeepSpeed moves the gradient shards to the host with
the optimizer. In addition to `layout.offload`, selective recomputation of MaxText on TPUs keeps the saved activations on the
host. With asynchronous checkpoints, the copy of weights and optimizer states that is being written counts as well.

Also `layout.offload` on accelerators that share the host's memory, such as `mi300a`: an error where the layout does not
fit without it, else a warning.

## Why it matters

The node runs out of memory when the optimizer is created. Adam in mixed precision keeps 12 bytes per parameter on the
host: without sharding, 70.6B parameters take 847 GB for each model replica. The processors of `mi300a` use its 128 GB:
offloaded data stays in the same memory.

## What to do

Offload a smaller share, shard the optimizer states over more ranks, or use nodes with more memory.

## When to ignore it

Ignore it where the offloaded states go to NVMe.

## Fires

```yaml layout.offload
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 256 GB}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}
```

```yaml layout.offload
clusterspec: 1
cluster: {accelerator: mi300a, accelerators_per_node: 4, nodes: 2, host_memory: 512 GB}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 4, sharding: zero1, recompute: full, offload: {optimizer: 1}}
```

```yaml layout.offload
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 1 TB}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}
operations: {checkpoint: {interval: 30 min, pause: 5 s, mode: asynchronous}, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 2 TB}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}
```

## Sources

- One memory of processors and accelerator: https://arxiv.org/abs/2508.12743
- Optimizer states on the host: https://arxiv.org/abs/2101.06840
- Bytes of Adam per parameter: https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OffloadSpec, OperationsSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "error", "likely")
MOST = 0.80
"""Share of the host memory that is available for offloading; the operating system, data loaders and pinned buffers use
the rest.
"""


def check(
    training: Workload,
    cluster: Cluster,
    layout: Layout,
    plan: Plan,
    what_if: WhatIf,
    operations: OperationsSpec | None,
) -> Iterator[Problem]:
    optimizer, activations = layout.offload_optimizer, layout.offload_activations
    if cluster.host_memory is None or plan.stored is None:
        return
    if optimizer == 0 and activations == 0 and plan.stored.saved_on_host == 0:
        return
    whole = what_if.with_layout(offload=OffloadSpec())
    if whole is None or whole.memory is None or whole.stored is None or plan.memory is None:
        return
    if cluster.accelerator.unified_memory and (optimizer or activations):
        yield _unified_memory_problem(cluster, whole)
        return
    each = optimizer * whole.memory.optimizer.value + activations * whole.memory.activations.value
    each += whole.stored.saved_on_host + whole.memory.gradients.value - plan.memory.gradients.value
    copied = whole.memory.weights.value + whole.memory.optimizer.value
    staged = copied * cluster.accelerators_per_node if operations is not None and operations.is_asynchronous else 0.0
    offloaded, host = each * cluster.accelerators_per_node, cluster.host_memory.value
    needed = offloaded + staged
    if needed > MOST * host:
        and_staged = (
            f" and {display(staged, 'B')} copied for asynchronous saving: {display(needed, 'B')}" if staged else ""
        )
        message = (
            f"{display(offloaded, 'B')} offloaded by {cluster.accelerators_per_node} accelerators{and_staged} are "
            f"{percent(needed / host, 2)} of the {display(host, 'B')} of host memory"
        )
        help_ = "offload a smaller share, shard over more ranks, or use nodes with more memory"
        help_ += "; or save synchronously" if staged else ""
        key = "layout.offload" if optimizer or activations else "layout.recompute"
        yield RULE.problem(key, message, help_, severity="error" if needed > host else "warning")


def _unified_memory_problem(cluster: Cluster, whole: Plan) -> Problem:
    """The problem of offloading to a host that uses the accelerator's memory; ``whole`` is the plan without it."""
    memory = cluster.accelerator.memory
    size = f" of {display(memory.value, 'B')}" if memory else ""
    message = f"the host shares the memory{size} of {cluster.accelerator.id}: offloaded states stay there"
    fits = whole.fits is not False
    help_ = "drop `offload`" if fits else "shard over more ranks, or use more nodes"
    return RULE.problem("layout.offload", message, help_, severity="warning" if fits else "error")
