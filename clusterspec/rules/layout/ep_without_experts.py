"""Expert parallelism on a model without experts.

## What it finds

`ep` above 1 where the model has no `experts`.

## Why it matters

Megatron and torchtitan stop at start. In other frameworks the expert-parallel ranks do redundant work.

## What to do

Write `ep: 1`, or describe the experts of the model.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes `ep: 1`. The model may lack its `experts` instead.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {ep: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {ep: 8}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/transformer_config.py#L1596
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/models/common/decoder.py#L207
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix

RULE = Rule.of(__name__, "error")


def check(model: Model, layout: Layout) -> Iterator[Problem]:
    if layout.ep > 1 and model.experts == 0:
        message = f"ep {layout.ep} has no effect: the model has no experts"
        help_ = "write `ep: 1`, or describe the experts of the model"
        yield RULE.problem("layout.ep", message, help_, fix=value_fix("layout.ep", "1"))
