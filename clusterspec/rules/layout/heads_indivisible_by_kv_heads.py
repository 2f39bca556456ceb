"""The number of query heads is not divisible by the number of key-value heads.

## What it finds

A model with `heads` that is no multiple of `kv_heads`, on all layers or on those with an `attention_window`.

## Why it matters

In grouped-query attention each key-value head serves the same number of query heads. Kernels and frameworks refuse another
number, and more key-value heads than query heads do not exist: the two are exchanged.

## What to do

Correct one of the two.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.model.kv_heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 8, head_dim: 128, kv_heads: 32, ffn_hidden: 14336, vocab: 128256, gated_ffn: true}
  sequence_length: 8192
  global_batch: 256
```

```yaml workload.model.attention_window.kv_heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model:
    {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 14336, vocab: 128256, gated_ffn: true,
     attention_window: {tokens: 1024, layers: 16, kv_heads: 12}}
  sequence_length: 8192
  global_batch: 256
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 3584, heads: 28, kv_heads: 4, ffn_hidden: 18944, vocab: 152064, gated_ffn: true}
  sequence_length: 8192
  global_batch: 256
```

## Sources

- Query heads in groups of equal size: https://arxiv.org/abs/2305.13245
- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/transformer_config.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AttentionWindowSpec, ModelSpec

RULE = Rule.of(__name__, "error")


def check(written_model: ModelSpec, model: Model) -> Iterator[Problem]:
    if written_model.kv_heads is None and written_model.attention_window is None:
        return
    if written_model.kv_heads and model.heads % written_model.kv_heads:
        yield _problem("workload.model.kv_heads", model.heads, written_model.kv_heads)
    window = written_model.attention_window
    if isinstance(window, AttentionWindowSpec) and window.kv_heads and (window.heads or model.heads) % window.kv_heads:
        yield _problem("workload.model.attention_window.kv_heads", window.heads or model.heads, window.kv_heads)


def _problem(at: str, heads: int, kv_heads: int) -> Problem:
    message = f"{heads} heads are not divisible by {kv_heads} key-value heads"
    help_ = "correct `heads` or `kv_heads`" + (": swap the two" if kv_heads > heads else "")
    return RULE.problem(at, message, help_)
