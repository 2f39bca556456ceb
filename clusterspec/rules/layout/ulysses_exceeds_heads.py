"""Context parallelism by all-to-all has too few heads for its ranks.

## What it finds

`cp_method: all-to-all` (Ulysses) where the heads of a tensor-parallel rank are not a multiple of cp, or where its
key-value heads are not. DeepSpeed also accepts a cp that is a multiple of the key-value heads: it replicates them.

## Why it matters

The all-to-all converts a split over the sequence to a split over heads, so each rank needs whole query and key-value
heads. Transformer Engine and DeepSpeed raise an error at start. Llama 3.1 8B has 8 key-value heads: with tp 8, each
rank has one.

## What to do

Use `cp_method: ring`, which splits only the sequence; or lower cp or tp.

## When to ignore it

Ignore it where the framework pads or replicates heads.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 8, cp: 4, cp_method: all-to-all}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 2, cp: 4, cp_method: all-to-all}
```

## Sources

- Transformer Engine, query and key-value heads alike: https://github.com/NVIDIA/TransformerEngine/blob/d0067d0da6cb01811b8072a7d304f0e00344ce2b/transformer_engine/pytorch/attention/dot_product_attention/context_parallel.py#L4246
- DeepSpeed Ulysses: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/sequence_parallel/ulysses_sp.py#L146
- A user who met it: https://github.com/verl-project/verl/issues/1226
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(model: Model, layout: Layout, legality: Legality) -> Iterator[Problem]:
    if layout.cp == 1 or layout.cp_method != "all-to-all" or model.heads % layout.tp:
        return
    heads, kv = model.heads // layout.tp, _kv_head_count(model, layout.tp)
    if heads % layout.cp:
        kind, there = "head", heads
    elif (
        kv is not None and kv % layout.cp and not (layout.capabilities.has("repeats_kv_heads") and layout.cp % kv == 0)
    ):
        kind, there = "key-value head", kv
    else:
        return
    message = f"tp {layout.tp} leaves {plural(there, kind)} per rank, which all-to-all cannot split over cp {layout.cp}"
    fewer = _smaller_degree(layout.cp, heads, kv)
    lower = f"use {legality.offered_text({'cp': [fewer]})}" if fewer > 1 else "lower cp or tp"
    yield RULE.problem("layout.cp", message, f"write `cp_method: ring`, or {lower}")


def _smaller_degree(cp: int, heads: int, kv: int | None) -> int:
    """The largest proper divisor of ``cp`` that divides a rank's heads and key-value heads; 1 if there is no other."""
    return max(each for each in range(1, cp) if cp % each == 0 and heads % each == 0 and (kv or heads) % each == 0)


def _kv_head_count(model: Model, tp: int) -> int | None:
    """Key-value heads of one tensor-parallel rank, at least one; None if latent or compressed attention has none."""
    return None if model.latent or model.compressed or not model.kv_heads else max(1, model.kv_heads // tp)
