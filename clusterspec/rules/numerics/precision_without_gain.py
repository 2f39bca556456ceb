"""GEMMs in the narrow format are no faster than in the wider one on this accelerator.

## What it finds

`precision: fp8`, fp4 or int8 on an accelerator whose peak in this format is no higher than in the next wider one. The
finding is an error in training, and a note in serving, where narrow weights still halve the bytes read. Where the
narrow peak is a quarter lower or more, such as int8 on B300, it is an error in both.

## Why it matters

The matrix units execute the wider format, and narrow operands are converted first. Training then has the errors of fp8
and none of its speed: a TPU v5p has 459 TFLOP/s in both.

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

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-b300, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, precision: int8, parameter_precision: int8, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64}}
layout: {framework: trt-llm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: bf16}
layout: {framework: maxtext, sharding: fsdp}
```

## Sources

- Integer peaks of HGX B300 and B200: https://fibermall.com/blog/?p=17161
- Peaks of TPU v5p: https://docs.cloud.google.com/tpu/docs/v5p-training
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
WIDER = {"fp8": "bf16", "fp4": "fp8", "int8": "bf16"}
SLOWER = 0.75
"""Ratio of the narrow format's peak to the wider one's at or below which at least a quarter of the speed is lost."""


def check(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    wider = WIDER.get(workload.precision, "")
    own, other = accelerator.peaks.get(workload.precision), accelerator.peaks.get(wider)
    if own is None or other is None or own.value > other.value:
        return
    slower = own.value <= SLOWER * other.value
    yield RULE.problem(
        "workload.precision",
        f"{accelerator.name} has {display(own.value, 'FLOP/s')} in {workload.precision} and {display(other.value, 'FLOP/s')} in {wider}: "
        f"{workload.precision} is {'slower' if slower else 'no faster'}",
        f"use {wider}, or an accelerator with units for {workload.precision}",
        severity="error" if slower or workload.kind == "train" else "note",
    )
