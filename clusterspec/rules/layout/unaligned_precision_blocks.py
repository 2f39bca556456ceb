"""Matrix dimensions do not fit the blocks of fp8 or fp4.

## What it finds

`precision: fp8` or `fp4` with a hidden or feed-forward width, or its share after tp, that is not a multiple of 16; of
32 with `parameter_precision: mxfp8` or `mxfp4`, or `recipe: mxfp8`. The finding is an error in Megatron Core and NeMo, a note elsewhere.

## Why it matters

Transformer Engine, which Megatron and NeMo use, raises an error unless dimensions divide by 16, and MXFP8 needs
multiples of 32. torchtitan leaves such layers in bf16, at half the rate of fp8.

## What to do

Pad the width, or choose another tp.

## When to ignore it

Ignore it where the framework pads the width itself.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 11064, vocab: 32000, gated_ffn: true}
  sequence_length: 4096
  global_batch: 128
  precision: fp8
layout: {framework: megatron-core, tp: 4}
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
layout: {framework: megatron-core, tp: 4}
```

## Sources

- Transformer Engine's condition: https://github.com/NVIDIA/TransformerEngine/blob/d0067d0da6cb01811b8072a7d304f0e00344ce2b/transformer_engine/pytorch/utils.py#L614
- MXFP8 blocks of 32: https://github.com/NVIDIA/TransformerEngine/blob/d0067d0da6cb01811b8072a7d304f0e00344ce2b/transformer_engine/pytorch/tensor/mxfp8_tensor.py#L129
- torchtitan's check: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/components/quantization/utils.py#L20
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list

RULE = Rule.of(__name__, "error", "likely")
BLOCK = 16
BLOCKS = {"mxfp8": 32, "mxfp4": 32}
"""Elements that share one scale, for formats with more than the 16 of plain fp8 and NVFP4."""


def check(workload: Workload, model: Model, layout: Layout) -> Iterator[Problem]:
    if workload.precision not in {"fp8", "fp4"}:
        return
    block = max(BLOCKS.get(workload.parameter_precision, BLOCK), BLOCKS.get(workload.recipe or "", BLOCK))
    odd = [
        f"{name} = {width // parts:,}"
        for name, width, parts in _matrix_widths(model, layout)
        if _is_unaligned(width, parts, block)
    ]
    if not odd:
        return
    refused = layout.capabilities.has("requires.aligned_fp8_blocks")
    what = (
        f"Transformer Engine in {layout.framework} raises an error" if refused else "these matrices run in bf16 instead"
    )
    verb = "is not a multiple" if len(odd) == 1 else "are not multiples"
    message = f"{and_list(odd)} {verb} of the {block} that {workload.precision} needs: {what}"
    severity = "error" if refused else "note"
    yield RULE.problem(
        "layout.tp", message, f"pad the width to a multiple of {block} × tp, or choose another tp", severity=severity
    )


def _matrix_widths(model: Model, layout: Layout) -> Iterator[tuple[str, int, int]]:
    """Name, width and degree of sharding of the matrices of a layer."""
    yield "hidden", model.hidden, 1
    if layout.tp > 1:
        yield "hidden / tp", model.hidden, layout.tp
    if model.dense_layers:
        yield "ffn_hidden / tp", model.ffn_hidden, layout.tp
    if model.experts:
        yield "expert_ffn_hidden / expert_tp", model.expert_ffn_hidden, layout.expert_tp


def _is_unaligned(width: int, parts: int, block: int) -> bool:
    """Whether a rank's share is an integer that is not a multiple of the block; other rules report shares that are not integers."""
    return width % parts == 0 and width // parts % block != 0
