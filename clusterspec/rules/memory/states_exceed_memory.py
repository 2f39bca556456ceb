"""Weights, gradients and optimizer states alone exceed the memory.

## What it finds

A sum of weights, gradients and optimizer states on the fullest accelerator, by the cost model, above its memory. A warning only
where the lower end of the predicted range fits, because the framework frees some states before it allocates others.

## Why it matters

The first step runs out of memory, whatever the batch. With Adam in mixed precision a parameter takes 18 bytes unsharded: 70.6B
parameters take 1.27 TB, which is sixteen H100 before the first activation.

## What to do

Use more sharding (zero1, fsdp), more tp or pp, more nodes, or optimizer states on the host. The help lists layouts that take at most
95 % of the memory, with their memory and step time.

## When to ignore it

Where the framework keeps less than the spec says: state `optimizer_states`, `gradient_precision` or `offload`.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, sharding: none}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, sharding: zero1, pp: 2}
```

## Sources

- ZeRO: https://arxiv.org/abs/1910.02054
- Megatron-LM's own estimate: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/theoretical_memory_usage.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.remedies import for_states, in_words, may_fit
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.units import say

RULE = Rule.of(__name__, "error", "likely")


def check(facts: Facts, workload: Workload, layout: Layout) -> Iterator[Problem]:
    memory = facts.memory
    if memory is None or memory.capacity is None:
        return
    states = memory.weights.value + memory.gradients.value + memory.optimizer.value
    capacity = memory.capacity.value
    if states <= capacity:
        return
    named = (("weights", memory.weights), ("gradients", memory.gradients), ("optimizer states", memory.optimizer))
    parts = ", ".join(f"{say(part.value, 'B')} of {name}" for name, part in named if part.value)
    training = workload.kind == "train"
    yield RULE.problem(
        "layout.sharding" if training else "layout.tp",
        f"{say(states, 'B')} of model states on the fullest accelerator ({parts}) exceed its {say(capacity, 'B')} of memory",
        _help(facts, training),
        severity="warning" if may_fit(facts.plan) else "error",
    )


def _help(facts: Facts, training: bool) -> str:
    if not training:
        return "raise tp or pp, or keep weights in fewer bytes (`parameter_precision`)"
    return in_words(
        for_states(facts), "raise tp or pp, add nodes, or keep optimizer states in fewer bytes or on the host"
    )
