"""The number of micro-batches is not a multiple of the pipeline stages.

## What it finds

With `schedule: interleaved` in Megatron Core or NeMo (or no framework named), and with any pipeline in MaxText, a
number of micro-batches (global batch / (dp × micro-batch)) that pp does not divide.

## Why it matters

The schedule processes micro-batches in groups of pp, and asserts that they divide evenly.

## What to do

Use a global batch with which the micro-batches are a multiple of pp, or another pp.

## When to ignore it

Ignore it where the framework's newer option for uneven groups is switched on.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 96}
layout: {framework: megatron-core, pp: 4, virtual_stages: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {framework: megatron-core, pp: 4, virtual_stages: 2}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/pipeline_parallel/schedules.py#L1165
- MaxText: https://github.com/AI-Hypercomputer/maxtext/blob/e591f30cbbf217ed67ef71263ec0538239f9c3b8/src/maxtext/configs/types.py#L3612
- A user who met it: https://github.com/NVIDIA/Megatron-LM/issues/1829
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality, near_multiples
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list

RULE = Rule.of(__name__, "error")


def check(legality: Legality, training: Workload, layout: Layout) -> Iterator[Problem]:
    if not legality.breaks(RULE.name) or not legality.has_integer_dp:
        return
    step = layout.dp * layout.micro_batch
    micro_batches = training.global_batch // step
    batches = or_list(near_multiples(training.global_batch, step * layout.pp))
    legal = legality.nearest_values_text(RULE.name, "pp")
    message = f"{micro_batches} micro-batches are not a multiple of pp {layout.pp}, which this schedule requires"
    yield RULE.problem(
        "workload.global_batch", message, f"use a batch of {batches}" + (f", or {legal}" if legal else "")
    )
