"""Tensor parallelism does not divide the feed-forward width.

## What it finds

`ffn_hidden` that is not a multiple of tp, or `expert_ffn_hidden` that is not a multiple of expert_tp.

## Why it matters

The first matrix is split by columns and the second by rows, so a width that is not divisible is a shape error at start.
The 11,008 of Llama 2 are divisible by 8 and 16, not by 12.

## What to do

Pad the width in the model's configuration, or use another tp.

## When to ignore it

Ignore it where the framework pads the width itself.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 32, ffn_hidden: 11004, vocab: 32000, gated_ffn: true}
  sequence_length: 4096
  global_batch: 256
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 32, ffn_hidden: 11008, vocab: 32000, gated_ffn: true}
  sequence_length: 4096
  global_batch: 256
layout: {tp: 8}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1332
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
    if model.ffn_hidden % layout.tp and model.dense_layers:
        message = f"a feed-forward width of {model.ffn_hidden:,} is not divisible by tp {layout.tp}"
        yield RULE.problem("layout.tp", message, legality.advice(RULE.name, "tp", otherwise="pad the width"))
    elif model.experts and model.expert_ffn_hidden % layout.expert_tp:
        message = f"an expert width of {model.expert_ffn_hidden:,} is not divisible by expert_tp {layout.expert_tp}"
        yield RULE.problem("layout.expert_tp", message, "write `expert_tp: 1`, or pad the width")
