"""Tensor parallelism cuts a block of fp8 weights that share one scale.

## What it finds

A serving layout with fp8 weights in which a rank's share of `ffn_hidden`, `expert_ffn_hidden` or the shared experts is
not a multiple of the blocks of the published fp8 checkpoint (`fp8_block` of the model's entry), and a framework whose
entry says that it requires whole blocks.

## Why it matters

The engine stops while it loads the weights: 1,536 over 8 ranks are 192, which is not a multiple of 128.

## What to do

Use fewer ranks for each matrix, or distribute whole experts (`ep`); shared experts are sharded by `tp` all the same.

## When to ignore it

Ignore it for a checkpoint with one scale for each channel or tensor instead of blocks.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen3-235b-a22b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 4000, output_tokens: 1000, concurrency: 64}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen3-235b-a22b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 4000, output_tokens: 1000, concurrency: 64}}
layout: {framework: vllm, tp: 8, ep: 8}
```

## Sources

- vLLM's check: https://github.com/vllm-project/vllm/blob/007d50058a06dec0f82472d63c819244d460c40d/vllm/model_executor/layers/quantization/utils/fp8_utils.py
- Users who met it: https://github.com/vllm-project/vllm/issues/17569 https://github.com/vllm-project/vllm/issues/52997 https://github.com/sgl-project/sglang/issues/10852
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.legality import cut_blocks
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import changed_keys
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error", "likely")


def check(legality: Legality, model: Model, layout: Layout, written_layout: LayoutSpec) -> Iterator[Problem]:
    if not legality.breaks(RULE.name):
        return
    cut = cut_blocks(model, layout.tp, layout.expert_tp)
    for name, width, ranks in cut:
        message = (
            f"{name} {width:,} over {ranks} ranks is {width // ranks:,}, not a multiple of the blocks of {model.fp8_block} "
            f"in the fp8 checkpoint: {layout.framework} does not load it"
        )
        whole = {"ep": layout.ep * ranks} | ({"expert_tp": 1} if written_layout.expert_tp is not None else {})
        spread = (
            f"distribute whole experts (`{changed_keys(whole)}`), or "
            if name == "expert_ffn_hidden" and len(cut) == 1
            else ""
        )
        help_ = spread + legality.advice(RULE.name, "tp", otherwise="lower tp")
        yield RULE.problem("layout.tp", message, help_)
