"""The head dimension of a described model is outside the range of attention kernels and published models.

## What it finds

A model that the spec describes itself, without latent attention, with more than 256 elements for each head, or with
fewer than 32 where `hidden` is at least 2,048.

## Why it matters

Fused attention kernels take up to 256 elements for each head; above, attention runs unfused and stores its scores. The
figure is `hidden` / `heads` where `head_dim` is not stated, so it also shows a wrong number of heads, which changes the
key-value cache and the possible degrees of tensor parallelism.

## What to do

Correct `heads`, `hidden` or `head_dim`; published models of this width have 64 to 256 elements for each head.

## When to ignore it

Ignore it for an architecture of your own whose kernels you have measured.

## Fires

```yaml workload.model.heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 6144, heads: 6, ffn_hidden: 24576, vocab: 50432}
  sequence_length: 2048
  global_batch: 256
```

```yaml workload.model.heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 8192, heads: 512, kv_heads: 8, ffn_hidden: 24576, vocab: 50432}
  sequence_length: 2048
  global_batch: 256
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 16, kv_heads: 8, ffn_hidden: 14336, vocab: 128256}
  sequence_length: 2048
  global_batch: 256
```

## Sources

- FlashAttention-2, "All head dimensions up to 256": https://github.com/Dao-AILab/flash-attention
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec

RULE = Rule.of(
    __name__, "warning", "likely", yields_to=("hidden-indivisible-by-heads", "heads-indivisible-by-kv-heads")
)
WIDEST, NARROWEST = 256, 32
"""Elements of one head: the most that fused kernels take, and the fewest of published models with `hidden` of 2,048."""
LARGE = 2048
"""Smallest value of `hidden` at which models have wide heads; small models for tests have narrow ones."""


def check(written_model: ModelSpec, model: Model) -> Iterator[Problem]:
    if written_model.base is not None or model.latent or not model.head_dim:
        return
    wide, each = model.head_dim > WIDEST, model.head_dim
    if wide or (each < NARROWEST and model.hidden >= LARGE):
        key = "head_dim" if written_model.head_dim is not None else "heads"
        known = (
            f"fused attention kernels take up to {WIDEST}" if wide else "published models of this width have 64 to 256"
        )
        message = f"{model.heads:,} heads of {each:,} each: {known}"
        yield RULE.problem(f"workload.model.{key}", message, "correct `heads`, `hidden` or `head_dim`")
