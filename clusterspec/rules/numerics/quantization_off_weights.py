"""The quantization method does not produce weights of the stated precision.

## What it finds

A `quantization` with a `parameter_precision` that its checkpoints do not have: AWQ packs weights into 4 bits, GPTQ
into 4 or 8, bitsandbytes into 4 or 8, GGUF files into up to 8 or keep 16, SmoothQuant quantizes weights and activations
to int8. This is an error. It is a warning where the method quantizes weights only, but `precision` states GEMMs in fp8,
fp4 or int8.

## Why it matters

Memory, bandwidth and the largest batch follow from the stated precision: a 70B model in bf16 has 141 GB of weights, and
as an AWQ checkpoint 37 GB. One of the two keys describes another checkpoint.

## What to do

State the precision of the checkpoint (`int4` for AWQ), or remove `quantization` for weights that are only cast.

## When to ignore it

Ignore it for a method of your own under one of these names.

## Fires

```yaml workload.quantization
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: fp8, quantization: awq, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8}}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8}}
layout: {framework: vllm, tp: 4}
```

## Sources

- AWQ, weights in 4 bits: https://arxiv.org/abs/2306.00978
- GPTQ, weights in 3 or 4 bits, and 8: https://arxiv.org/abs/2210.17323
- SmoothQuant, weights and activations in 8 bits: https://arxiv.org/abs/2211.10438
- bitsandbytes in 8 and 4 bits: https://huggingface.co/docs/transformers/quantization/bitsandbytes
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error", "likely")
KEPT = {
    "awq": ("int4",),
    "gptq": ("int4", "int8"),
    "bitsandbytes": ("int4", "int8", "fp4"),
    "gguf": ("int4", "int8", "mxfp4", "bf16", "fp16"),
    "smoothquant": ("int8",),
}
"""The precisions of weights that checkpoints of each method have."""
WEIGHTS_ONLY = frozenset({"awq", "gptq", "bitsandbytes", "gguf"})
"""Methods that leave activations in 16 bits."""


def check(written_workload: WorkloadSpec) -> Iterator[Problem]:
    if written_workload.quantization is None or written_workload.implied_kind != "serve":
        return
    method, model = written_workload.quantization, written_workload.model
    stated = written_workload.expert_parameter_precision or written_workload.parameter_precision
    kept = KEPT.get(method, ())
    if stated is None or model is None:
        return
    if stated in kept:
        yield from _narrow_product_problem(written_workload, method)
        return
    message = f"{method} stores weights in {and_list(list(kept))}, but the spec states {stated}"
    yield RULE.problem("workload.quantization", message, "state the precision of the checkpoint, or remove the method")


def _narrow_product_problem(written: WorkloadSpec, method: str) -> Iterator[Problem]:
    """The problem of a method that quantizes only weights, with a GEMM precision below 16 bits."""
    if method in WEIGHTS_ONLY and written.precision in {"fp8", "fp4", "int8"}:
        message = f"{method} quantizes only weights: GEMMs run in 16 bits, not in {written.precision}, so prefill is slower than predicted"
        yield RULE.problem("workload.precision", message, "write `precision: bf16` or `fp16`", severity="warning")
