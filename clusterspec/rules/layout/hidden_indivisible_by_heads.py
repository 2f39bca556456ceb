"""The hidden width does not divide by the heads, and no head width is stated.

## What it finds

A model with `hidden` that `heads` does not divide, and no `head_dim`.

## Why it matters

The head dimension would not be an integer. Models whose heads are wider or narrower than hidden / heads (Qwen3, Gemma)
state `head_dim`.

## What to do

Correct one of the two, or state `head_dim`.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.model.heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 24, kv_heads: 8, ffn_hidden: 14336, vocab: 128256, gated_ffn: true}
  sequence_length: 8192
  global_batch: 256
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 24, head_dim: 128, kv_heads: 8, ffn_hidden: 14336, vocab: 128256, gated_ffn: true}
  sequence_length: 8192
  global_batch: 256
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1332
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec

RULE = Rule.of(__name__, "error")


def check(written_model: ModelSpec, model: Model) -> Iterator[Problem]:
    if written_model.head_dim is None and written_model.base is None and model.hidden % model.heads:
        message = f"hidden {model.hidden:,} over {model.heads} heads is {model.hidden / model.heads:.5g} per head, which is not whole"
        yield RULE.problem("workload.model.heads", message, "correct hidden or heads, or state `head_dim`")
