"""Some matrices fall back from fp8 to a wider format.

## What it finds

`precision: fp8` or `fp4` with a hidden or feed-forward width, or its share after tp, that is no multiple of 16.

## Why it matters

The matrix units take fp8 in blocks of 16; other widths are computed in bf16 without a word, at half the rate.

## What to do

Pad the width, or another tp.

## When to ignore it

Where the framework pads by itself.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 11064, vocab: 32000, gated_ffn: true}
  sequence_length: 4096
  global_batch: 128
  precision: fp8
layout: {tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 11072, vocab: 32000, gated_ffn: true}
  sequence_length: 4096
  global_batch: 128
  precision: fp8
layout: {tp: 4}
```

## Sources

- torchtitan's check: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/components/quantization/utils.py#L20
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both

RULE = Rule.of(__name__, "note", "likely")
BLOCK = 16


def check(workload: Workload, model: Model, layout: Layout) -> Iterator[Problem]:
    if workload.precision not in {"fp8", "fp4"}:
        return
    widths = {"hidden": (model.hidden, 1), "hidden / tp": (model.hidden, layout.tp)}
    if model.dense_layers:
        widths["ffn_hidden / tp"] = (model.ffn_hidden, layout.tp)
    if model.experts:
        widths["expert_ffn_hidden / expert_tp"] = (model.expert_ffn_hidden, layout.expert_tp)
    odd = [
        f"{name} = {width // parts:,}"
        for name, (width, parts) in widths.items()
        if width % parts == 0 and width // parts % BLOCK
    ]
    if odd:
        message = (
            f"{both(odd)} is no multiple of {BLOCK}: these matrices run in a wider format than {workload.precision}"
        )
        yield RULE.problem("layout.tp", message, "pad the width, or another tp")
