"""The spec gives all layers a window that only some layers of the published model have.

## What it finds

An `attention_window` without `layers` over a `base` whose entry has a window in some layers and full attention in the
others. A plain number is the window of all layers with attention.

## Why it matters

The layers with full attention hold the cache of the whole context. In Gemma 3 27B, 10 of 62 layers have full attention. At 60,000
tokens they hold nine tenths of the cache, and a plan without them promises ten times the requests that fit.

## What to do

Remove the key: the entry has the window already. To change the window alone, write a mapping with `tokens` and the number
of `layers`.

## When to ignore it

Ignore it where the checkpoint was trained again with the window in all layers.

## Fires

```yaml workload.model.attention_window
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: {base: gemma-3-27b, attention_window: 1024}
  serving: {input_tokens: 60000, output_tokens: 800, concurrency: 16}
layout: {framework: vllm, tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: {base: gemma-3-27b, attention_window: {tokens: 512, layers: 52}}
  serving: {input_tokens: 60000, output_tokens: 800, concurrency: 16}
layout: {framework: vllm, tp: 2}
```

## Sources

- Five layers with a window for each with full attention: https://arxiv.org/abs/2503.19786
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec

RULE = Rule.of(__name__, "error", "likely")


def check(written_model: ModelSpec, model: Model, catalog: Catalog) -> Iterator[Problem]:
    if written_model.base is None or written_model.attention_window is None or model.window is None:
        return
    base = catalog.find("model", written_model.base)
    if not isinstance(base, Model) or base.window is None or model.window.layers < model.attention_layers:
        return
    some, every = base.window.layers, base.attention_layers
    if some < every:
        message = (
            f"all {model.attention_layers} layers with attention have the window of {model.window.tokens:,} tokens;"
            f" of those of {base.name} only {some} of {every} have one"
        )
        help_ = f"remove the key, or write `attention_window: {{tokens: {model.window.tokens}, layers: {some}}}`"
        yield RULE.problem("workload.model.attention_window", message, help_)
