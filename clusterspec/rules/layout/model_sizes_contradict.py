"""Two sizes of the described model exclude each other.

## What it finds

In a `workload.model` that is described by its sizes:

- value heads of `linear_attention` that are not a multiple of its key heads (of its groups in Mamba-2);
- `heads` that the `output_groups` of `compressed_attention` do not divide, a `rope` wider than `head_dim`, or a
  `heavy_ratio` that does not exceed the `light_ratio`;
- `multi_token_prediction` with experts in a model without experts;
- a rank, a latent width or an `expert_latent` that does not compress: `gate_rank` from the width of all keys on,
  `latent_attention.kv` from the width of all keys and values on, and `expert_latent` from `hidden` on;
- an odd `head_dim`, which rotary embeddings cannot divide into pairs.

The first five are errors; the widths that do not compress are warnings.

## Why it matters

No framework builds such a layer, or the two figures belong to different models. Parameters, cache and time follow from
the sizes.

## What to do

Take all sizes from one configuration of the model, such as `config.json` of its checkpoint.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.model.linear_attention.value_heads
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, attention_layers: 8, linear_attention: {kind: gated-delta, layers: 24, key_heads: 16, value_heads: 24, key_head_dim: 128, value_head_dim: 128}}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core}
```

```yaml workload.model.compressed_attention.output_groups
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, compressed_attention: {q: 1024, rope: 64, output_groups: 12, output_rank: 512, light_ratio: 4, light_layers: 16, heavy_ratio: 128, heavy_layers: 16, window: 128}}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core}
```

```yaml workload.model.multi_token_prediction.ffn
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: {base: llama-3.1-8b, multi_token_prediction: {layers: 1, ffn: experts}}, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core}
```

```yaml workload.model.expert_latent
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
workload: {model: {base: mixtral-8x7b, expert_latent: 4096}, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, ep: 8}
```

```yaml workload.model.head_dim
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: {base: llama-3.1-8b, head_dim: 127}, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, attention_layers: 8, linear_attention: {kind: gated-delta, layers: 24, key_heads: 16, value_heads: 32, key_head_dim: 128, value_head_dim: 128}}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, compressed_attention: {q: 1024, rope: 64, output_groups: 16, output_rank: 512, light_ratio: 4, light_layers: 16, heavy_ratio: 128, heavy_layers: 16, window: 128}}
  sequence_length: 8192
  global_batch: 256
layout: {framework: megatron-core}
```

## Sources

- Value heads that share a key head: https://github.com/huggingface/transformers/blob/main/src/transformers/models/qwen3_next/modeling_qwen3_next.py
- Groups and heads of Mamba-2: https://arxiv.org/abs/2405.21060
- Latent attention: https://arxiv.org/abs/2405.04434
- Rotary embeddings turn pairs of elements: https://arxiv.org/abs/2104.09864
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import CompressedAttention, LinearAttention, Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec

RULE = Rule.of(__name__, "error")
KEY = "workload.model"
HELP = "take both from one configuration of the model"


def check(written_model: ModelSpec, model: Model) -> Iterator[Problem]:
    if (
        written_model.linear_attention is None
        and written_model.compressed_attention is None
        and written_model.latent_attention is None
        and written_model.expert_latent is None
        and written_model.multi_token_prediction is None
        and written_model.head_dim is None
    ):
        return
    if written_model.linear_attention is not None and model.linear is not None:
        yield from _linear_problems(model.linear)
    if written_model.compressed_attention is not None and model.compressed is not None:
        yield from _compressed_problems(model.compressed, model)
    yield from _narrow_problems(written_model, model)
    predicted = written_model.multi_token_prediction
    if predicted is not None and predicted.ffn == "experts" and not model.experts:
        message = "the layers for multi-token prediction have experts, but the model has none"
        help_ = "write `ffn: dense`, or describe the experts of the model"
        yield RULE.problem(f"{KEY}.multi_token_prediction.ffn", message, help_)
    if written_model.head_dim is not None and written_model.head_dim % 2:
        message = f"heads have an odd width of {written_model.head_dim}, but rotary embeddings take an even one"
        yield RULE.problem(f"{KEY}.head_dim", message, "correct `head_dim`")


def _linear_problems(linear: LinearAttention) -> Iterator[Problem]:
    """Problems of heads that cannot share keys, and of a rank that does not compress the decay."""
    if linear.key_heads and linear.value_heads % linear.key_heads:
        keys = "groups" if linear.kind == "mamba-2" else "key heads"
        message = f"{linear.value_heads} value heads are not divisible by {linear.key_heads} {keys}"
        yield RULE.problem(f"{KEY}.linear_attention.value_heads", message, HELP)
    width = linear.key_heads * linear.key_head_dim
    if linear.kind == "kimi-delta" and linear.gate_rank >= width > 0:
        message = f"`gate_rank` of {linear.gate_rank:,} is not below the width of all keys, {width:,}"
        help_ = "state the rank, or 0 where there is one full matrix"
        yield RULE.problem(f"{KEY}.linear_attention.gate_rank", message, help_, severity="warning")


def _compressed_problems(part: CompressedAttention, model: Model) -> Iterator[Problem]:
    """Problems of groups that divide no heads, of a rotary part wider than a head, and of ratios in reverse order."""
    at = f"{KEY}.compressed_attention"
    if part.output_groups and model.heads % part.output_groups:
        message = f"{model.heads} heads are not divisible by {part.output_groups} output groups"
        yield RULE.problem(f"{at}.output_groups", message, HELP)
    if part.rope > model.head_dim > 0:
        message = f"the rotary part has a width of {part.rope}, but a head of {model.head_dim}"
        yield RULE.problem(f"{at}.rope", message, HELP)
    if part.heavy_layers and part.light_layers and part.heavy_ratio <= part.light_ratio:
        message = f"heavily compressed layers keep an entry for {part.heavy_ratio} tokens, lightly compressed ones for {part.light_ratio}"
        yield RULE.problem(f"{at}.heavy_ratio", message, "swap the two ratios")


def _narrow_problems(written: ModelSpec, model: Model) -> Iterator[Problem]:
    """Problems of projections to a width that is not narrower."""
    if written.latent_attention is not None and model.latent_kv >= 2 * model.heads * model.head_dim > 0:
        every = 2 * model.heads * model.head_dim
        message = f"a latent width of {model.latent_kv:,} is not below that of all keys and values, {every:,}"
        yield RULE.problem(f"{KEY}.latent_attention.kv", message, HELP, severity="warning")
    if written.expert_latent is not None and written.expert_latent >= model.hidden:
        message = f"`expert_latent` of {written.expert_latent:,} is not below `hidden`, {model.hidden:,}"
        yield RULE.problem(f"{KEY}.expert_latent", message, HELP, severity="warning")
