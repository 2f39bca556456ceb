"""Tensor parallelism does not divide the vocabulary.

## What it finds

A `vocab` that tp does not divide: a warning where the framework is known not to pad, else a note. The rule is silent for frameworks that pad the vocabulary or shard it unevenly by
themselves: Megatron, NeMo, Megatron-DeepSpeed, torchtitan, vLLM, SGLang and TensorRT-LLM.

## Why it matters

Embedding and output layer are split over the vocabulary. Megatron Core asserts that tp divides it, so its launcher pads
GPT-2's 50,257 tokens to 51,200 at tp 8, a multiple of 128 × tp. Without padding the model does not start. The padded
model has other parameters and logits than the spec states.

## What to do

State the padded vocabulary: a multiple of 128 × tp.

## When to ignore it

Ignore it where the framework pads the vocabulary and the difference does not matter.

## Fires

```yaml workload.model.vocab
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 32, ffn_hidden: 16384, vocab: 50257, gated_ffn: false}
  sequence_length: 2048
  global_batch: 256
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 32, ffn_hidden: 16384, vocab: 51200, gated_ffn: false}
  sequence_length: 2048
  global_batch: 256
layout: {tp: 8}
```

## Sources

- How Megatron-LM pads: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/tokenizers/utils/build_tokenizer.py#L138
- Uneven shards in torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/components/loss.py#L74
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec

RULE = Rule.of(__name__, "warning")
STEP = 128
"""Megatron pads the vocabulary to a multiple of this many tokens per rank (`--make-vocab-size-divisible-by`)."""


def check(written_model: ModelSpec | None, model: Model, layout: Layout) -> Iterator[Problem]:
    if layout.tp == 1 or model.vocab % layout.tp == 0 or layout.capabilities.has("pads.vocabulary"):
        return
    padded = -(-model.vocab // (STEP * layout.tp)) * STEP * layout.tp
    message = (
        f"a vocabulary of {model.vocab:,} is not divisible by tp {layout.tp}: unpadded, the embedding cannot be split"
    )
    at = "workload.model.vocab" if written_model and written_model.vocab is not None else "workload.model"
    named = written_model is None
    state = f"`model: {{base: {model.id}, vocab: {padded}}}`" if named else f"`vocab: {padded}`"
    help_ = f"state the padded vocabulary, such as {padded:,} (a multiple of {STEP} × tp): {state}"
    refused = layout.capabilities.refuses("pads.vocabulary")
    yield RULE.problem(at, message, help_, severity="" if refused else "note")
