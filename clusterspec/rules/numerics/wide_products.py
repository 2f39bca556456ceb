"""Training multiplies in fp32 where 16 bits are many times as fast.

## What it finds

`precision: fp32` in training, on an accelerator whose peak in bf16 or fp16 is at least four times that of fp32; and weights stored
in fp32 (`parameter_precision`) in serving.

## Why it matters

Matrix units multiply 16-bit numbers and add them in fp32. Mixed precision with fp32 master weights reaches the same loss,
so the accelerators do a fraction of their work for the same money. Checkpoints of language models are published in 16 bits and
less: fp32 adds no digit, and every step of decoding reads twice the bytes.

## What to do

Serve the weights as they are published. In training, use bf16, or fp16 with loss scaling on accelerators without bf16; tf32 where inputs have to stay in fp32.

## When to ignore it

Ignore it for numerical studies.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp32}
layout: {tp: 2}
```

```yaml workload.parameter_precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: fp32, serving: {input_tokens: 2000, output_tokens: 300, concurrency: 16}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: tf32}
layout: {tp: 2}
```

## Sources

- The same accuracy as fp32: Micikevicius et al., https://arxiv.org/abs/1710.03740
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "likely")
MUCH = 4.0


def check(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    if workload.kind == "serve":
        if workload.parameter_precision == "fp32":
            message = f"weights in fp32 take {display(4 * model_weights(workload.model).total, 'B')}, twice those in bf16, and each decode step reads all of them"
            yield RULE.problem("workload.parameter_precision", message, "serve the weights in bf16 or in fewer bytes")
        return
    training = workload
    if training.precision != "fp32" or training.peak is None:
        return
    for narrow in ("bf16", "fp16"):
        peak = accelerator.peaks.get(narrow)
        if peak is not None and peak.value >= MUCH * training.peak.value:
            ratio = plain(peak.value / training.peak.value, 2)
            message = f"GEMMs in fp32 run at 1/{ratio} of the peak that {accelerator.name} has in {narrow}"
            yield RULE.problem("workload.precision", message, f"use {narrow} with fp32 master weights, or tf32")
            return
