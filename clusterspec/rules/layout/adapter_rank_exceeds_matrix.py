"""An adapter has as many weights as the matrix that it adapts.

## What it finds

A `trainable.rank` at which the two matrices of an adapter have at least as many weights as the smallest matrix among its
modules: r (k + n) ≥ k n for a matrix of k × n.

## Why it matters

An adapter saves memory and time because its rank is small against the widths of the matrix. Above k n / (k + n),
training the matrix itself needs fewer weights and can change all of them. Grouped-query attention has narrow matrices
of keys and values, and experts are narrow as well.

## What to do

Lower the rank, or leave the module out.

## When to ignore it

Ignore it where one rank is used for all modules on purpose and the narrow ones are few.

## Fires

```yaml workload.trainable.rank
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 1024, modules: [attention]}}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 256, modules: [attention]}}
layout: {tp: 1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, trainable: {method: lora, rank: 1024, modules: [ffn]}}
layout: {tp: 1}
```

## Sources

- Rank and widths of adapters: https://arxiv.org/abs/2106.09685
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")


def check(training: Workload) -> Iterator[Problem]:
    trainable = training.trainable
    if trainable is None:
        return
    for module in trainable.modules:
        inputs, outputs = _smallest_matrix(training.model, module)
        limit = inputs * outputs / (inputs + outputs) if inputs and outputs else 0.0
        if limit and trainable.rank >= limit:
            weights = trainable.rank * (inputs + outputs)
            yield RULE.problem(
                "workload.trainable.rank",
                f"an adapter of rank {trainable.rank:,} has {weights:,} weights, added to a matrix of {inputs:,} × {outputs:,} in "
                f"`{module}`, which has {inputs * outputs:,}",
                f"use a rank below {limit:,.0f}, or leave `{module}` out of `modules`",
            )
            return


def _smallest_matrix(model: Model, module: str) -> tuple[int, int]:
    """Inputs and outputs of the smallest matrix of a module; zeros if the model lacks the module."""
    if module == "experts":
        return (model.expert_width, model.expert_ffn_hidden) if model.moe_layers else (0, 0)
    if module == "ffn":
        width = model.ffn_hidden if model.layers > model.moe_layers else model.shared_width
        return model.hidden, width
    if model.latent:
        return model.hidden, model.latent_kv + model.latent_rope
    return (model.hidden, model.kv_heads * model.head_dim) if model.kv_heads else (0, 0)
