"""Tensor parallelism does not divide the attention heads.

## What it finds

A model whose `heads` is not a multiple of `tp`; likewise the heads of sliding-window layers, the value heads of linear
attention and the output groups of compressed attention. The rule is silent for libraries that pad heads, such as AWS
Neuron's, and for `framework: custom`, which may pad them; estimates then count the padded heads.

## Why it matters

Attention is split by heads, so few frameworks support it: 28 heads (Qwen2 7B) do not allow tp 8, nor do 52 (OPT 30B,
Yi). The job fails only after queueing, container start and loading of weights.

## What to do

Use a tp that divides the heads. The help lists the nearest degrees that fit the rest of the layout.

## When to ignore it

Ignore it where the framework pads heads, and name it `custom`: estimates count the padded heads, which cost time and memory.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 28, hidden: 3584, heads: 28, kv_heads: 4, ffn_hidden: 18944, vocab: 152064, gated_ffn: true}
  sequence_length: 4096
  global_batch: 256
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 28, hidden: 3584, heads: 28, kv_heads: 4, ffn_hidden: 18944, vocab: 152064, gated_ffn: true}
  sequence_length: 4096
  global_batch: 256
layout: {tp: 4}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/transformer_config.py#L1448
- vLLM users who met it: https://github.com/vllm-project/vllm/issues/414 https://github.com/vllm-project/vllm/issues/11797
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.legality import cut_heads
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(legality: Legality, model: Model, layout: Layout) -> Iterator[Problem]:
    if legality.breaks(RULE.name):
        help_ = legality.advice(RULE.name, "tp", otherwise="use a tp that divides the heads")
        name, count = next((name, count) for name, count in cut_heads(model) if count % layout.tp)
        message = f"{count} {name} are not divisible by tp {layout.tp}: {count / layout.tp:.3g} per rank"
        yield RULE.problem("layout.tp", message, help_)
