"""Context parallelism by all-to-all has fewer heads than ranks.

## What it finds

`cp_method: all-to-all` (Ulysses) where heads / tp is no multiple of cp, or where `kv_heads` and cp divide neither way.

## Why it matters

The all-to-all trades the cut over the sequence for a cut over heads: each rank needs at least one whole head.

## What to do

`cp_method: ring`, which cuts the sequence alone, or a smaller cp.

## When to ignore it

Where the framework pads or copies heads.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 8, cp: 8, cp_method: all-to-all}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 8, cp: 4, cp_method: all-to-all}
```

## Sources

- DeepSpeed Ulysses: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/sequence_parallel/ulysses_sp.py#L146
- A user who met it: https://github.com/verl-project/verl/issues/1226
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(model: Model, layout: Layout) -> Iterator[Problem]:
    if layout.cp == 1 or layout.cp_method != "all-to-all" or model.heads % layout.tp:
        return
    heads, kv = model.heads // layout.tp, model.kv_heads
    if heads % layout.cp:
        message = f"{heads} heads a rank (after tp {layout.tp}) do not divide over cp {layout.cp} by all-to-all"
    elif kv and not model.latent and kv % layout.cp and layout.cp % kv:
        message = f"{kv} key-value heads and cp {layout.cp} divide neither way"
    else:
        return
    yield RULE.problem("layout.cp", message, "write `cp_method: ring`, or a smaller cp")
