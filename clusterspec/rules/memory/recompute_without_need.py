"""Activations are computed again although the memory holds them.

## What it finds

In training, recomputation in a plan that uses at most half of the memory, where the same layout with less
recomputation, or with none and smaller micro-batches, uses at most 80 % of the memory and takes at least 10 % less
time.

## Why it matters

Full recomputation runs the forward pass twice: a fifth to a quarter of the step. Recipes for accelerators with 40 GB or
80 GB need it, and scripts keep it on machines with 192 GB or 288 GB, where most of the memory then stays empty.

## What to do

Write the setting that the message names.

## When to ignore it

Ignore it where longer sequences will use the memory, or where the framework is known to need more than predicted.

## Fires

```yaml layout.recompute
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 1, sharding: zero1, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 4}
workload: {model: llama-2-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 4, sharding: zero1, recompute: full}
```

## Sources

- Costs of recomputation, and savings by part: https://arxiv.org/abs/2205.05198
- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.shares import SURELY_FITS
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "likely", yields_to=("selective-recompute-with-flash", "degrees-beyond-need"))
HALF = 0.5
"""Share of the memory above which recomputation is needed."""
GAIN = 0.1
"""Smallest share of the step that less recomputation must save."""


def check(training: Workload, layout: Layout, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    used, capacity = timed.memory_bytes, timed.memory_capacity
    if layout.recompute == "none" or training.rl is not None or used is None or capacity is None:
        return
    if used > HALF * capacity:
        return
    fitting = what_if.fitting_alternatives(_lighter_settings(layout))
    found = next((each for each in fitting if each.memory_bytes and each.memory_bytes <= SURELY_FITS * capacity), None)
    saving = what_if.saved_share(found) if found else None
    if found is None or saving is None or saving < GAIN:
        return
    yield RULE.problem(
        "layout.recompute",
        f"activations are computed again, but the plan uses {display(used, 'B')} of {display(capacity, 'B')}: "
        f"{what_if.comparison_text(found)}",
        f"write `{found.words}`",
    )


def _lighter_settings(layout: Layout) -> Iterator[Mapping[str, object]]:
    """Settings with less recomputation, and without recomputation but with smaller micro-batches."""
    yield {"recompute": "none"}
    if layout.recompute == "full":
        yield {"recompute": "selective"}
    for parts in (2, 4):
        if layout.micro_batch % parts == 0:
            yield {"recompute": "none", "micro_batch": layout.micro_batch // parts}
