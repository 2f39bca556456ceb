"""Expert parallelism does not divide the experts.

## What it finds

A model whose `experts` is not a multiple of `ep`; in serving, the sum of experts and stated copies
(`redundant_experts`) is checked.

## Why it matters

Every rank of an expert group holds the same number of experts. Megatron, DeepSpeed and torchtitan assert it.

## What to do

Use an ep that divides the experts.

## When to ignore it

Do not ignore it. If the framework adds redundant copies of busy experts, so that the sum is divisible, count the
copies.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 384}
layout: {ep: 3}
```

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 3}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 512, redundant_experts: 16}}
layout: {tp: 1, attention_dp: 24, ep: 24}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 384}
layout: {ep: 4}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 3}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 512, redundant_experts: 32}}
layout: {tp: 1, attention_dp: 24, ep: 24}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1658
- DeepSpeed: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/moe/layer.py#L59
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/models/common/decoder.py#L207
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.degrees import fewest_copies
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")
ENGINES = "workload.serving.disaggregated"


def check(legality: Legality, model: Model, layout: Layout, workload: Workload) -> Iterator[Problem]:
    if legality.breaks(RULE.name):
        key = f"{ENGINES}.decode" if layout.separate_engines else "layout.ep"
        remedy = legality.advice(RULE.name, "ep", otherwise="use another ep")
        if workload.kind == "serve":
            remedy = _fewest_copies_text(model, layout.ep)
        yield RULE.problem(key, _message(model, layout.redundant_experts, layout.ep), remedy)
    prefill = workload.serving.prefill if workload.serving else None
    if prefill is not None and model.experts and (model.experts + prefill.redundant_experts) % prefill.ep:
        message = _message(model, prefill.redundant_experts, prefill.ep)
        yield RULE.problem(f"{ENGINES}.prefill", message, _fewest_copies_text(model, prefill.ep))


def _fewest_copies_text(model: Model, ep: int) -> str:
    """Advice with the smallest number of redundant experts that lets a serving engine distribute its experts evenly."""
    copies = fewest_copies(model.experts, ep)
    return f"use `redundant_experts: {copies}` ({model.experts + copies} experts over {ep} ranks), or another ep"


def _message(model: Model, copies: int, ep: int) -> str:
    and_copies = f" and {plural(copies, 'copy')}" if copies else ""
    return f"{model.experts} experts{and_copies} are not divisible by ep {ep}"
