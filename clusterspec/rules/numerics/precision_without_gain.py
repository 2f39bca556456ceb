"""Narrow products are no faster than wide ones on the accelerator.

## What it finds

`precision: fp8` or fp4 on an accelerator whose peak in it is no higher than in the next wider format: a warning in
training, a note in serving, where narrow weights still halve what is read.

## Why it matters

The matrix units execute the wider format, and the narrow one is converted first. Training then has the errors of fp8 and
none of its speed: a TPU v5p has 459 TFLOP/s in both.

## What to do

Use the wider format, or an accelerator with units for the narrow one.

## When to ignore it

Ignore it where narrow activations are needed for memory.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8}
layout: {framework: maxtext, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: bf16}
layout: {framework: maxtext, sharding: fsdp}
```

## Sources

- Peaks of TPU v5p: https://docs.cloud.google.com/tpu/docs/v5p-training
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
WIDER = {"fp8": "bf16", "fp4": "fp8"}


def check(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    wider = WIDER.get(workload.precision)
    if wider is None:
        return
    own, other = accelerator.peaks.get(workload.precision), accelerator.peaks.get(wider)
    if own is None or other is None or own.value > other.value:
        return
    yield RULE.problem(
        "workload.precision",
        f"{accelerator.name} has {display(own.value, 'FLOP/s')} in {workload.precision} and {display(other.value, 'FLOP/s')} in {wider}: "
        "it is no faster",
        f"use {wider}, or an accelerator with units for {workload.precision}",
        severity="" if workload.kind == "train" else "note",
    )
