"""A job that is to continue on fewer nodes has no second replica.

## What it finds

`recovery: shrink` where the loss of any node leaves no whole copy of the model, because data parallelism is 1 or each
expert exists once: an error. It is a note where the replicas that are left after the loss of a node cannot share the batch
evenly: most frameworks then go on with another batch only. It is a warning where the loss of one node stops a replica of
many nodes: a fifth of the machine or more, at least four healthy nodes of it, idles until the repair. For a framework that by its catalog entry refuses to start with
such a batch, as DeepSpeed does, it is a warning.

## Why it matters

A job shrinks by dropping the replicas that the failed node belongs to. With a single replica over all nodes, a part of
the model is missing after a failure, and the job waits for the repair. Expert parallelism joins replicas: with `ep` over
all ranks of a pipeline stage, each expert exists once although data parallelism is large.

## What to do

Keep a spare node and restart on it, or use degrees that leave two replicas or more of the layers and of each expert.

## When to ignore it

Do not ignore it.

## Fires

```yaml operations.recovery
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 8, pp: 4, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

```yaml operations.recovery
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 3}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 456}
layout: {framework: deepspeed, sharding: zero2, dp: 24, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

```yaml operations.recovery
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, pp: 4, ep: 8, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

```yaml operations.recovery
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64}
workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 512}
layout: {framework: megatron-core, tp: 8, pp: 16, dp: 4, stage_layers: [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7], micro_batch: 1, sharding: zero1}
operations: {checkpoint_interval: 30 min, checkpoint_time: 15 s, recovery: shrink, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 8, pp: 4, micro_batch: 1, recompute: selective}
operations: {checkpoint_interval: 2 h, checkpoint_time: 60 s, recovery: shrink, burn_in: 72 h}
```

## Sources

- Training that continues without the failed replicas: https://github.com/pytorch/torchft
- DeepSpeed asserts that the batch is micro-batch × accumulation × replicas:
  https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/config.py
- Megatron-LM can take a smaller batch instead (`decrease_batch_size_if_needed`):
  https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/num_microbatches_calculator.py
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "error")
MANY_IDLE, LARGE_SHARE = 4, 0.2
"""Healthy nodes, and share of the machine, that idle after the loss of one: a spare node costs less."""


def check(operations: OperationsSpec, training: Workload, layout: Layout) -> Iterator[Problem]:
    if operations.recovery != "shrink" or training.rl is not None:
        return
    whole = _ranks_of_a_whole_model(layout)
    if whole < layout.ranks:
        yield from _odd_batch_problem(training, layout, whole)
        return
    yield RULE.problem(
        "operations.recovery",
        f"the only {_copied(layout)} takes all {plural(layout.nodes, 'node')}: without one of them no whole replica is left",
        "keep a spare node and write `recovery: restart`, or use degrees that leave two replicas",
    )


def _ranks_of_a_whole_model(layout: Layout) -> int:
    """The fewest ranks that hold whole replicas of the layers and a copy of each expert: a job shrinks by this number."""
    return layout.pp * lcm(layout.tp * layout.cp, layout.expert_tp * layout.ep)


def _copied(layout: Layout) -> str:
    """What exists once, with the degrees by which it does."""
    if layout.dp == 1:
        return "replica of the model (dp 1)"
    return f"copy of the experts (ep {layout.ep} × pp {layout.pp})"


def _odd_batch_problem(training: Workload, layout: Layout, whole: int) -> Iterator[Problem]:
    """The problem of a batch that the replicas remaining after the loss of one node do not divide."""
    of_node = max(1, layout.ranks // max(1, layout.nodes))
    used = (layout.ranks - of_node) // whole * whole
    left, each = used // layout.replica_ranks, layout.micro_batch or 1
    idle = layout.nodes - 1 - used // of_node
    if idle >= MANY_IDLE and layout.ranks - used >= LARGE_SHARE * layout.ranks:
        message = f"a replica fills {plural(whole // of_node, 'node')}: after the loss of one, {idle} healthy nodes, {percent(idle / layout.nodes)} of the machine, idle until the repair"
        help_ = "keep a spare node and write `recovery: restart`, or use smaller replicas"
        yield RULE.problem("operations.recovery", message, help_, severity="warning", confidence="likely")
    elif left > 0 and training.global_batch and training.global_batch % (left * each):
        message = f"after the loss of a node {plural(left, 'replica')} {'is' if left == 1 else 'are'} left, and a batch of {training.global_batch:,} sequences is {training.global_batch / left:.4g} for each"
        help_ = (
            "keep a spare node and write `recovery: restart`, or choose a batch that both numbers of replicas divide"
        )
        severity = "warning" if layout.capabilities.has("requires.whole_batch") else "note"
        yield RULE.problem("operations.recovery", message, help_, severity=severity, confidence="likely")
