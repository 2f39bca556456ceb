"""The accelerator does not support the precision.

## What it finds

A `workload.precision` without a peak in the accelerator's entry: fp8 on an A100 or an MI250X, bf16 on a V100, fp4 on an
H100, fp16 on a TPU; weights, a cache or a recipe in a block format of another vendor, such as NVFP4 on an Instinct; and
the `mxfp8` recipe on a part without units for block-scaled formats, such as MI300X. Where a part executes fp16 and its
entry states no fp16 peak, the bf16 peak applies. The finding is an error, and a note where the part supports the
precision and the catalog has no peak, such as bf16 on TPU 8t: no time can be estimated then.

## Why it matters

The accelerator has no such peak. The framework either refuses to run, or emulates the format at the speed of the next
wider one and adds casts.

## What to do

Use a precision that the accelerator supports, or another accelerator. `workload.peak_flops` states a peak where the
catalog lacks one.

## When to ignore it

Do not ignore it. If the format only stores weights and the arithmetic is wider, state the precision of the arithmetic
here.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8}
```

```yaml workload.parameter_precision
clusterspec: 1
cluster: {platform: mi355x-ubb8, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, precision: fp4, parameter_precision: nvfp4, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64}}
layout: {framework: sglang, tp: 8}
```

```yaml workload.recipe
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8, recipe: mxfp8}
layout: {framework: megatron-core, tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8}
```

## Sources

- fp8 asked of an A100: https://github.com/pytorch/torchtitan/issues/668
- The formats that CDNA 4 executes: https://github.com/ROCm/rocm-blogs/blob/c9ef8066b5803794cc6f661c5f0d450153fd3a5c/blogs/software-tools-optimization/cdna4-gemm-kernels/README.md
- NVFP4 and MXFP4: https://developer.nvidia.com/blog/introducing-nvfp4-for-efficient-and-accurate-low-precision-inference/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", yields_to=("integer-training",))
INCOMPLETE = frozenset({"int8"})
"""Formats that many accelerators support, although the catalog has peaks for few of them."""


def check(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    yield from _vendor_format_problems(workload, accelerator)
    yield from _recipe_problem(workload, accelerator)
    if workload.peak is not None:
        return
    if workload.precision in accelerator.unpublished_peaks:
        message = f"no peak of {accelerator.id} in {workload.precision} is published, so no time can be estimated"
        yield RULE.problem("workload.precision", message, "state `workload.peak_flops`", severity="note")
    elif workload.precision in INCOMPLETE:
        message = f"the catalog has no peak of {accelerator.id} in {workload.precision}, so no time can be estimated"
        yield RULE.problem("workload.precision", message, "state `workload.peak_flops`", severity="note")
    elif accelerator.peaks:
        has = ", ".join(accelerator.peaks)
        message = f"{accelerator.id} does not support {workload.precision}: its peaks are {has}"
        serving = workload.kind == "serve"
        kept = "; weights may be kept in fewer bytes (`parameter_precision`)" if serving else ""
        yield RULE.problem("workload.precision", message, f"use one of {has}, or another accelerator{kept}")


def _recipe_problem(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    """The problem of an `mxfp8` recipe on an accelerator that cannot multiply blocks of 32 values with one scale.

    For NVIDIA, the framework's support decides instead.
    """
    formats = {*accelerator.peaks, *accelerator.unpublished_peaks}
    if workload.recipe != "mxfp8" or not accelerator.peaks or "fp4" in formats or accelerator.vendor == "NVIDIA":
        return
    message = f"the `mxfp8` recipe scales blocks of 32 values, but {accelerator.id} multiplies matrices that have one factor each"
    yield RULE.problem(
        "workload.recipe", message, "write `recipe: delayed` or `current`, or use an accelerator that has fp4"
    )


def _vendor_format_problems(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    """Weights, a cache or a recipe in a block format that only parts of another vendor multiply."""
    kept = {
        "parameter_precision": workload.parameter_precision,
        "expert_parameter_precision": workload.expert_parameter_precision if workload.model.experts else "",
        "kv_precision": workload.kv_precision if workload.kind == "serve" else "",
        "recipe": workload.recipe or "",
    }
    for key, name in kept.items():
        vendor = PRECISIONS[name].vendor if name in PRECISIONS else ""
        if vendor and vendor != accelerator.vendor:
            message = f"{name} is a format of {vendor}: {accelerator.id} has no instruction that multiplies it"
            yield RULE.problem(f"workload.{key}", message, "quantize again to a format of the part, such as fp8")
            return
