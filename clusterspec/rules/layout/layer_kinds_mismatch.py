"""The kinds of layers of a model do not add up to its layers.

## What it finds

More layers with a window, an index or experts than the model allows; layers with softmax and with linear attention that
do not sum to the model's layers; compressed layers that do not cover all attention layers.

## Why it matters

Weights, key-value cache and time are computed per kind of layer. If the kinds do not add up to the model's layers,
every figure computed from them is wrong.

## What to do

Correct the count that is wrong. When absent, `attention_layers` is the number of layers without linear attention. Where
a layer has either token mixing or a feed-forward network, as in Nemotron-H, state `ffn_layers`.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.model.attention_window.layers
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, attention_window: {tokens: 1024, layers: 40}}
  sequence_length: 4096
  global_batch: 256
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: llama-3.1-8b, attention_window: {tokens: 1024, layers: 24}}
  sequence_length: 4096
  global_batch: 256
```

## Sources

- Layers with and without a window: https://arxiv.org/abs/2503.19786
- Layers that do one thing: https://arxiv.org/abs/2504.03624
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
KEY = "workload.model"


def check(model: Model) -> Iterator[Problem]:
    parts = (
        (
            "attention_window.layers",
            "with a window",
            _layer_count(model.window),
            model.attention_layers,
            "with attention",
        ),
        (
            "sparse_attention.layers",
            "with a sparse index",
            _indexed_layers(model),
            model.full_layers,
            "with full attention",
        ),
        ("moe_layers", "with experts", model.moe_layers, model.ffn_layers, "with a feed-forward network"),
    )
    for key, kind, some, every, among in parts:
        if some > every:
            message = f"{some} layers {kind} are more than the {every} layers {among}"
            yield RULE.problem(f"{KEY}.{key}", message, "correct the count that is wrong")
    yield from _mixing_problems(model)
    yield from _compressed_problems(model)


def _layer_count(part: object) -> int:
    return getattr(part, "layers", 0)


def _indexed_layers(model: Model) -> int:
    """Number of layers with an index; an index stated for all layers applies only to the layers that can have one."""
    stated = _layer_count(model.sparse)
    return 0 if stated == model.layers else stated


def _mixing_problems(model: Model) -> Iterator[Problem]:
    """Problems of layers that lack token mixing or a feed-forward network."""
    mixing = model.attention_layers + model.linear_layers
    both = mixing == model.layers and model.ffn_layers <= model.layers
    either = mixing + model.ffn_layers == model.layers
    if both or either:
        return
    kinds = f"{model.attention_layers} layers with attention and {model.linear_layers} with linear attention"
    message = (
        f"{kinds} do not add up to the {model.layers} layers of the model, nor do they with {model.ffn_layers} networks"
    )
    key = "linear_attention.layers" if model.stated_attention_layers is None and model.linear else "attention_layers"
    yield RULE.problem(
        f"{KEY}.{key}",
        message,
        "correct the counts, or state `ffn_layers` where layers have either token mixing or a network",
    )


def _compressed_problems(model: Model) -> Iterator[Problem]:
    part = model.compressed
    if part is None or part.light_layers + part.heavy_layers == model.full_layers:
        return
    counted = f"{part.light_layers} lightly and {part.heavy_layers} heavily compressed layers"
    message = f"{counted} disagree with the {model.full_layers} full-attention layers"
    yield RULE.problem(f"{KEY}.compressed_attention", message, "correct `light_layers` or `heavy_layers`")
