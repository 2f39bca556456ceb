"""Expert parallelism does not divide the experts.

## What it finds

A model whose `experts` is no multiple of `ep`.

## Why it matters

Every rank of an expert group holds the same number of experts; Megatron, DeepSpeed and torchtitan assert it.

## What to do

Use an ep that divides the experts.

## When to ignore it

Where the framework adds redundant copies of busy experts so that the sum divides; then count the copies.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 384}
layout: {ep: 3}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 384}
layout: {ep: 4}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1658
- DeepSpeed: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/moe/layer.py#L59
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/models/common/decoder.py#L207
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(legality: Legality, model: Model, layout: Layout) -> Iterator[Problem]:
    if legality.breaks(RULE.name):
        message = f"{model.experts} experts do not divide over ep {layout.ep}"
        yield RULE.problem("layout.ep", message, legality.advice(RULE.name, "ep", otherwise="use another ep"))
