"""Weights in 4 bits make a full batch slower than wider weights that fit.

## What it finds

In serving, weights of 4 bits whose GEMMs run in 16 bits, at a load where weights in fp8 (on accelerators with units
for it) or in bf16 fit on the same accelerators and are predicted to give at least 10 % more output tokens. The rule is
silent where the model is published in this format (gpt-oss: mxfp4). Severity follows the predicted loss: a note below
the half-width of the range of that difference, else a warning.

## Why it matters

With few requests, reading the weights bounds a step, so 4 bits are up to four times as fast as 16. With many requests
and long prompts, compute bounds a step, which 4-bit weights do not speed up: every GEMM unpacks them first, and on
Blackwell it then cannot use the instructions that reach the peak. Weights and GEMMs in fp8 halve the bytes and double
the rate.

## What to do

Use fp8 for weights and GEMMs at this load, or 4-bit weights with fewer requests on fewer accelerators.

## When to ignore it

Ignore it where the load is usually far below the one in the spec.

## Fires

```yaml workload.parameter_precision
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 512}}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: int4, quantization: awq, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 4}}
layout: {framework: vllm, tp: 2}
```

## Sources

- Throughput of 4-bit weights at small and large batches: https://arxiv.org/abs/2405.04532
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
PACKED = ("int4", "fp4", "nvfp4", "mxfp4")
WIDE = ("bf16", "fp16")
GAIN = 1.1
"""Ratio to the throughput of 4-bit weights above which wider weights are worth their memory."""


def check(served: Served, accelerator: Accelerator) -> Iterator[Problem]:
    workload, model = served.workload, served.workload.model
    if workload.parameter_precision in {model.checkpoint_precision, model.checkpoint_expert_precision}:
        return  # nobody publishes wider weights
    if workload.parameter_precision not in PACKED or workload.precision not in WIDE or served.load.prefill is not None:
        return
    now = served.times.output_tokens_per_second
    found = [
        (each, more)
        for each in _wider_precisions(accelerator)
        if (more := served.with_weights(each)) and more.plan.fits
    ]
    best = max(found, key=lambda each: each[1].times.output_tokens_per_second, default=None)
    if best is None or best[1].times.output_tokens_per_second < GAIN * now:
        return
    then = best[1].times.output_tokens_per_second
    lost = 1 - now / then
    yield RULE.problem(
        "workload.parameter_precision",
        f"weights in {workload.parameter_precision} with products in {workload.precision}: predicted {display(now, '1')} output tokens "
        f"per second, {display(then, '1')} with weights in {best[0]}, which fit ({percent(lost, 2)} lost)",
        f"store weights in {best[0]} at this load" + (", with products in fp8" if best[0] == "fp8" else ""),
        severity=cost_severity(lost, loss_factors(served.times), most="warning"),
    )


def _wider_precisions(accelerator: Accelerator) -> Iterator[str]:
    """Weight precisions to compare with: fp8 if the part multiplies it faster, and bf16."""
    narrow, wide = accelerator.peaks.get("fp8"), accelerator.peaks.get("bf16")
    if narrow is not None and wide is not None and narrow.value > wide.value:
        yield "fp8"
    yield "bf16"
