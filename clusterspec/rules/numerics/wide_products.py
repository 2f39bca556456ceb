"""GEMMs in fp32 or tf32 where 16 bits are faster, or weights served in more bits than GEMMs need.

## What it finds

`precision: fp32` or `tf32` on an accelerator whose peak in bf16 or fp16 is at least 1.9 times as high; and weights stored in fp32
(`parameter_precision`) in serving. Also a serving plan whose `precision` is fp8, fp4 or int8 while its weights have 16 bits: if
`parameter_precision` is absent, they have those of the published checkpoint. Plans on an accelerator without a
published 16-bit peak are not reported, since the spec has to state another precision. The finding is a warning, and a
note where the text names `tf32` or `fp32` as the choice.

## Why it matters

Matrix units multiply 16-bit numbers and add them in fp32. Mixed precision with fp32 master weights reaches the same
loss, so fp32 and tf32 cost throughput: TF32 products run at half the rate of BF16 and read twice the bytes. Checkpoints
of language models are published in 16 bits and less: fp32 adds no digit, and every step of decoding reads twice the
bytes. Engines that multiply in 8 bits quantize the weights when they load them, so that a plan with 16-bit weights is
predicted with twice their memory and slower decoding.

## What to do

Serve the weights as they are published, or state their precision in addition to that of the GEMMs (`parameter_precision: fp8`). In training, use bf16, or fp16 with loss scaling on accelerators without bf16.

## When to ignore it

Ignore it for numerical studies, and for models whose inputs have to stay in fp32.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp32}
layout: {tp: 2}
```

```yaml workload.parameter_precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, parameter_precision: fp32, serving: {input_tokens: 2000, output_tokens: 300, concurrency: 16}}
layout: {framework: vllm, tp: 8}
```

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: tf32}
layout: {tp: 2}
```

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, precision: fp8, serving: {input_tokens: 2000, output_tokens: 300, concurrency: 16}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 300, concurrency: 16}}
layout: {framework: vllm, tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: bf16}
layout: {tp: 2}
```

## Sources

- The same accuracy as fp32: Micikevicius et al., https://arxiv.org/abs/1710.03740
- vLLM in fp8 has the weights of linear layers quantized: https://docs.vllm.ai/en/v0.5.4/quantization/fp8.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.quantity import precision_width
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "likely")
LEAST_RATIO = 1.9
"""Minimum ratio of the 16-bit peak to the peak of the products; TF32 runs at half the 16-bit rate on matrix units."""
WIDE = frozenset({"fp32", "tf32"})
NARROW = frozenset({"fp8", "fp4", "int8"})
"""Precisions of products for which engines also store the weights in as many bits."""
WHOLE = ("bf16", "fp16")


def check(workload: Workload, accelerator: Accelerator, own_remarks: str | None) -> Iterator[Problem]:
    if workload.kind == "serve" and workload.parameter_precision == "fp32":
        message = f"weights in fp32 take {display(4 * model_weights(workload.model).total, 'B')}, twice those in bf16, and each decode step reads all of them"
        yield RULE.problem("workload.parameter_precision", message, "serve the weights in bf16 or in fewer bytes")
        return
    if workload.kind == "serve" and workload.precision in NARROW and workload.parameter_precision in WHOLE:
        dense = workload.expert_parameter_precision in WHOLE or not workload.model.experts
        if dense and any(accelerator.peaks.get(wide) is not None for wide in WHOLE):
            yield _wide_weights_problem(workload)
        return
    if workload.precision not in WIDE or workload.peak is None:
        return
    for narrow in WHOLE:
        peak = accelerator.peaks.get(narrow)
        if peak is not None and peak.value >= LEAST_RATIO * workload.peak.value:
            ratio = plain(peak.value / workload.peak.value, 2)
            message = (
                f"GEMMs in {workload.precision} run at 1/{ratio} of the peak that {accelerator.name} has in {narrow}"
            )
            master = "" if workload.kind == "serve" else " with fp32 master weights"
            chosen = workload.precision in (own_remarks or "").lower()  # the text names the precision and its reason
            severity = "note" if chosen else ""
            yield RULE.problem("workload.precision", message, f"use {narrow}{master}", severity=severity)
            return


def _wide_weights_problem(workload: Workload) -> Problem:
    """The problem of 16-bit weights in an engine that multiplies in fewer bits."""
    narrow, kept = workload.precision, workload.parameter_precision
    size = model_weights(workload.model).total * precision_width(kept)
    message = (
        f"GEMMs run in {narrow}, but the weights are kept in {kept} ({display(size, 'B')}): an engine that multiplies in {narrow} "
        "quantizes them when it loads them, so memory and the time per output token are predicted larger than they are"
    )
    return RULE.problem("workload.precision", message, f"write `parameter_precision: {narrow}`, or `precision: {kept}`")
