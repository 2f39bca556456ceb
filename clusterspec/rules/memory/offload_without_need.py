"""The optimizer is offloaded, and its states fit in the memory of the accelerators.

## What it finds

In training, `layout.offload.optimizer` where the same layout without offloading uses at most 80 % of the memory. The
finding is a warning where at least half of the states are offloaded. It is a note below that, and where only adapters
are trained, whose states are small. It is an error where offloading takes a quarter of the step even at the low end of
the predicted range.

## Why it matters

Gradients cross PCIe to the host, whose processors have a tenth of the memory bandwidth of one accelerator and update
the weights of all accelerators of the node; then the weights come back. The step waits for the update, and the freed
memory stays empty. The prediction includes the transfers only; the update on the processor adds to them.

## What to do

Remove `offload`. Where memory is short, shard the states over more ranks first.

## When to ignore it

Ignore it where other runs of the same layout use the memory for longer sequences or larger micro-batches.

## Fires

```yaml layout.offload
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 1, host_memory: 2 TB}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: deepspeed, sharding: fsdp, recompute: selective, offload: {optimizer: 1}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 2 TB}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}
```

## Sources

- Optimizer states on the host, for models that do not fit: https://arxiv.org/abs/2101.06840
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.shares import SURELY_FITS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OffloadSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("offload-exceeds-host-memory",))
MUCH = 0.5
"""Smallest share of the states at which the update mostly runs on the processor."""


def check(training: Workload, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    share = layout.offload_optimizer
    if share == 0 or training.rl is not None:
        return
    whole = what_if.with_layout(offload=OffloadSpec(activations=layout.offload_activations or None))
    if whole is None or whole.memory_bytes is None or whole.memory_capacity is None:
        return
    if whole.memory_bytes > SURELY_FITS * whole.memory_capacity:
        return
    now = what_if.step_time
    saved = 1 - whole.step_seconds / now if now and whole.step_seconds else None
    costly = saved is not None and what_if.severity(saved) == "error"
    yield RULE.problem(
        "layout.offload",
        f"{percent(share)} of the optimizer's states are on the host, but nothing needs it: on the accelerators the plan uses "
        f"{display(whole.memory_bytes, 'B')} of {display(whole.memory_capacity, 'B')}",
        "remove `offload`: each step waits for the transfer and for the optimizer on the processor",
        severity="error" if costly else "warning" if share >= MUCH and training.trainable is None else "note",
    )
