"""The model states fit in memory, but not together with the activations.

## What it finds

Model states that fit, and a predicted total of states, activations, logits and framework memory above the memory of the
fullest rank. The finding is an error where even the lower end of the predicted range is above it, a warning where the
capacity lies inside the range, and a note where most of the lower half of the range fits. It is also a note where a
custom framework uses `selective` and the plan fits with `full`, since the activations that it keeps are not known. In
serving, the rule reports weights that fit with a key-value cache that does not.

## Why it matters

The run ends out of memory in the first backward pass, usually on the first pipeline stage, which holds the most
micro-batches in flight.

## What to do

Use activation recomputation, sequence parallelism, context parallelism or a smaller micro-batch. The help lists layouts
that use at most 95 % of the memory, with their memory and step time.

## When to ignore it

Ignore it where a measured run fits: the framework then uses less memory than predicted.

## Fires

```yaml layout.recompute
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 131072, global_batch: 64}
layout: {tp: 1, sharding: fsdp, recompute: none}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

## Sources

- Activations of a transformer: https://arxiv.org/abs/2205.05198
- Megatron-LM's own estimate: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/theoretical_memory_usage.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.frameworks import OWN
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.remedies import advice_for_activations, may_fit
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
LONG = 8192
"""Smallest sequence length at which the scores of plain attention are most of a layer's activations."""


def check(
    workload: Workload,
    cluster: Cluster,
    written_layout: LayoutSpec,
    layout: Layout,
    plan: Plan,
    what_if: WhatIf,
) -> Iterator[Problem]:
    memory = None if plan.fits is not False else plan.memory
    if memory is None or memory.capacity is None or workload.serving is not None:
        return  # of engines that serve requests, `weights-leave-no-cache` reports it
    states = memory.weights.value + memory.gradients.value + memory.optimizer.value
    total, capacity = memory.total.value, memory.capacity.value
    if states > capacity or total <= capacity:
        return
    training = workload.kind == "train"
    what = "activations" if training else "key-value cache"
    yield RULE.problem(
        _activation_key(written_layout, layout, workload) if training else "workload.sequence_length",
        f"{display(total, 'B')} on the fullest accelerator ({display(states, 'B')} of states, {display(memory.activations.value, 'B')} of {what}, "
        f"{display(memory.other.value, 'B')} of framework memory) exceed its {plan.capacity_text}{_range_text(plan)}",
        advice_for_activations(what_if, cluster, layout) if training else "shorten the cache, or raise tp",
        severity=_severity(plan, layout, what_if),
    )


def _severity(plan: Plan, layout: Layout, what_if: WhatIf) -> str:
    """The severity: an error if the whole predicted range exceeds the capacity, a note if most of the range's lower
    half is below it.

    What `selective` keeps in an in-house framework is not known; the problem is then a note if `full` fits.
    """
    own = layout.capabilities.named and layout.capabilities.framework.id == OWN
    if own and layout.recompute == "selective" and what_if.fitting_alternatives([{"recompute": "full"}]):
        return "note"
    memory = plan.memory
    if memory is None or memory.capacity is None or not may_fit(plan):
        return "error"
    low = plan.memory_range[0] if plan.memory_range else memory.total.value
    return "note" if (low + memory.total.value) / 2 <= memory.capacity.value else "warning"


def _range_text(plan: Plan) -> str:
    """Text with the predicted range; it says whether the memory may suffice."""
    if plan.memory_range is None:
        return ""
    low, high = (display(bound, "B") for bound in plan.memory_range)
    return (
        f"; the predicted range is {low} to {high}, so it may fit"
        if may_fit(plan)
        else f"; even the lower end of the range is {low}"
    )


def _activation_key(written: LayoutSpec, layout: Layout, workload: Workload) -> str:
    """The activation key that the author most likely needs to change; keys with more effect on memory come first."""
    if workload.attention == "plain" and workload.sequence_length >= LONG:
        return "workload.attention"
    if layout.pp > 1 and layout.schedule == "gpipe" and (layout.micro_batches or 1) > 2 * layout.pp:
        return "layout.schedule"
    if written.micro_batch and written.micro_batch > 1:
        return "layout.micro_batch"
    return "layout.recompute" if layout.recompute != "full" else "layout.cp"
