"""Neither tp nor the number of key-value heads is a multiple of the other.

## What it finds

Grouped-query models: in torchtitan, `kv_heads` that are not a multiple of `tp`; in Megatron Core, NeMo, vLLM and SGLang
(and where no framework is named), `kv_heads` and `tp` if neither divides the other. Models with latent attention have
no key-value heads and are not checked.

## Why it matters

Megatron gives each rank whole key-value heads, or a replica of one; 6 heads over tp 4 allow neither. torchtitan does
not replicate: 8 heads do not allow tp 16 in torchtitan, but do in Megatron.

## What to do

Lower tp, and use cp or dp for the other ranks.

## When to ignore it

Do not ignore it. If the framework pads or replicates in another way, name it (`framework: custom`).

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 24, head_dim: 128, kv_heads: 6, ffn_hidden: 14336, vocab: 128256}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 24, head_dim: 128, kv_heads: 2, ffn_hidden: 14336, vocab: 128256}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core, tp: 4}
```

## Sources

- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/models/common/decoder.py#L192
- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/transformer_config.py#L1466
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(legality: Legality, model: Model, layout: Layout) -> Iterator[Problem]:
    if legality.breaks("heads-indivisible-by-tp") or not legality.breaks(RULE.name):
        return  # heads that do not divide have their own rule
    who = legality.framework or "Megatron"
    message = f"{who} cannot distribute {model.kv_heads} key-value heads over tp {layout.tp}"
    help_ = legality.advice(RULE.name, "tp", otherwise="lower tp, and use cp or dp")
    yield RULE.problem("layout.tp", message, help_)
