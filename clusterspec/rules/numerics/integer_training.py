"""Training in an integer format.

## What it finds

`kind: train` with `precision: int8`, or with `parameter_precision` int8 or int4. The rule is silent for a framework
that publishes a recipe for int8 (MaxText), and for frozen weights under adapters (`trainable`).

## Why it matters

Integer formats have no exponent: gradients span many orders of magnitude and mostly round to zero. Without a library
for scales and stochastic rounding, as on TPUs, int8 does not converge; fp8 and the block formats of 4 bits have recipes
in most frameworks.

## What to do

Use fp8 or bf16 for training, and quantize the trained weights for serving.

## When to ignore it

Ignore it for research on integer training.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: int8}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8}
layout: {tp: 1}
```

```yaml
clusterspec: 1
cluster: {platform: tpu-v5e, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, precision: int8}
layout: {framework: maxtext, sharding: fsdp, recompute: full}
```

## Sources

- Formats for training and for inference: Micikevicius et al., FP8 Formats for Deep Learning, https://arxiv.org/abs/2209.05433
- Training in int8 with MaxText: https://github.com/AI-Hypercomputer/maxtext
- Integer formats for the forward pass only: Wortsman et al., https://arxiv.org/abs/2304.13013
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
INTEGERS = frozenset({"int8", "int4"})


def check(training: Workload, layout: Layout) -> Iterator[Problem]:
    if training.precision in INTEGERS and not layout.capabilities.has("int8_training"):
        message = f"training multiplies in {training.precision}, in which most gradients round to zero"
        yield RULE.problem("workload.precision", message, "train in fp8 or bf16, and quantize for serving")
    if training.parameter_precision in INTEGERS and training.trainable is None:
        message = (
            f"weights in training are kept in {training.parameter_precision}, in which small updates round to nothing"
        )
        yield RULE.problem("workload.parameter_precision", message, "keep bf16 or fp8, and quantize for serving")
