"""Neuron does not support the tensor-parallel degree.

## What it finds

Trainium with a tp, in cores, that the runtime does not map onto the chips. It supports 1, 2, 8, 16 or a multiple of 32
on Trn1; powers of two up to 64 on Trn2.

## Why it matters

The model does not load: "Unsupported topology".

## What to do

Use a listed degree.

## When to ignore it

Ignore it where a newer release of the SDK supports it.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 3, scale_out: {collective_plugin: neuron, placement: cluster-placement-group}}
workload:
  model: {layers: 48, hidden: 6144, heads: 48, kv_heads: 48, ffn_hidden: 24576, vocab: 50304, gated_ffn: false}
  sequence_length: 4096
  global_batch: 128
layout: {framework: neuronx-distributed, tp: 48}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 3, scale_out: {collective_plugin: neuron, placement: cluster-placement-group}}
workload:
  model: {layers: 48, hidden: 6144, heads: 48, kv_heads: 48, ffn_hidden: 24576, vocab: 50304, gated_ffn: false}
  sequence_length: 4096
  global_batch: 120
layout: {framework: neuronx-distributed, tp: 16}
```

## Sources

- Degrees and their errors: https://github.com/huggingface/optimum-neuron/issues/619
- Logical cores: https://github.com/aws-neuron/aws-neuron-sdk/blob/81ce03ae261e12925e53437a0f690478e6366155/about-neuron/arch/neuron-features/logical-neuroncore-config.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
TRN1 = {1, 2, 8, 16}
TRN1_STEP = 32
TRN2 = {1, 2, 4, 8, 16, 32, 64}


def check(accelerator: Accelerator, layout: Layout) -> Iterator[Problem]:
    tp = layout.tp
    if accelerator.id.startswith("trainium1"):
        legal, offered = tp in TRN1 or tp % TRN1_STEP == 0, "1, 2, 8, 16 or a multiple of 32"
    elif accelerator.id.startswith("trainium2"):
        legal, offered = tp in TRN2, "a power of two up to 64"
    else:
        return
    if not legal:
        message = f"{accelerator.name} does not support tp {tp}: the runtime has no such group of cores"
        yield RULE.problem("layout.tp", message, f"use {offered}")
