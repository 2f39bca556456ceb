"""The layers of a pipeline rank are not divisible by its virtual stages.

## What it finds

`virtual_stages` above 1 that does not divide layers / pp, in Megatron Core, NeMo and MaxText (and where no framework is
named), without `stage_layers`.

## Why it matters

The interleaved schedule asserts it at start. 32 layers on pp 4 are 8 per rank, which allows 2, 4 or 8 virtual stages,
not 3.

## What to do

Use a number of virtual stages that divides layers / pp.

## When to ignore it

Do not ignore it for these frameworks.

## Fires

```yaml layout.virtual_stages
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, virtual_stages: 3}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, virtual_stages: 4}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L973
- MaxText: https://github.com/AI-Hypercomputer/maxtext/blob/e591f30cbbf217ed67ef71263ec0538239f9c3b8/src/maxtext/configs/types.py#L3582
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
    each = model.layers // layout.pp
    if not legality.breaks(RULE.name) or each < layout.virtual_stages:
        return  # layers-indivisible-by-pp reports fewer layers than stages
    message = f"{model.layers} layers on pp {layout.pp} are {each} per rank, which {layout.virtual_stages} virtual stages do not divide"
    yield RULE.problem(
        "layout.virtual_stages",
        message,
        legality.advice(RULE.name, "virtual_stages", otherwise="use fewer virtual stages"),
    )
