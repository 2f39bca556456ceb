"""A number is not the multiple that the framework's release requires.

## What it finds

A width or a degree that is not a multiple of the number that the catalog entry of the framework states (`multiples`):
weights with a fraction of a quantization group on a rank, heads of linear attention that tp × cp does not divide, ranks
that context parallelism does not divide. The finding is an error where the entry cites a document, and a warning
otherwise.

## Why it matters

The framework stops at start, or while it loads the weights.

## What to do

Use a degree that the message names, or distribute whole experts (`ep`) instead of sharding each expert.

## When to ignore it

Ignore it for a checkpoint with quantization groups of another size than usual, or one that was padded to whole groups.
The rule accepts the widths of padded checkpoints that the model's maker publishes (Qwen2.5 72B).

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen2.5-14b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {framework: vllm, tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen2.5-72b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {framework: vllm, tp: 8}
```

## Sources

- Users who met it: https://github.com/vllm-project/vllm/issues/13980
- Linear attention in Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/transformer/transformer_config.py#L1501
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.frameworks import Requirement
from clusterspec.catalog.releases import Multiple
from clusterspec.cluster.legality import broken_multiples
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")


def check(legality: Legality, layout: Layout) -> Iterator[Problem]:
    if not layout.capabilities.required:
        return
    for named, value, step in broken_multiples(legality.numbers, legality.demands):
        feature = _requirement(named, layout).feature
        release = layout.capabilities.release or layout.framework
        parts = " × ".join((*([f"{named.number}"] if named.number > 1 else []), *named.axes))
        note = f": {feature.note}" if feature.note else ""
        message = f"{release} needs {named.quantity} ({value:,}) to be a multiple of {parts} = {step:,}{note}"
        axis = named.axes[0] if named.axes else "tp"
        help_ = legality.advice(RULE.name, axis, otherwise=f"use another {axis}, or another framework")
        yield RULE.problem(f"layout.{axis}", message, help_, severity="error" if feature.is_sourced else "warning")


def _requirement(named: Multiple, layout: Layout) -> Requirement:
    """The requirement of the release that corresponds to a number of the layout."""
    wanted = (named.quantity, named.number, named.axes)
    return next(
        each
        for each in layout.capabilities.required
        if (each.multiple.quantity, each.multiple.number, each.multiple.axes) == wanted
    )
