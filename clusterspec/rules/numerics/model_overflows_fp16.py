"""The activations of the model exceed the range of fp16.

## What it finds

`precision: fp16` for a model whose catalog entry says that its activations overflow fp16 (`fp16_overflows`): Gemma 2 and
Gemma 3. An accelerator without bf16, such as T4 or V100, then cannot run the model at 16 bits.

## Why it matters

fp16 ends at 65,504, bf16 at 3e38. A model that was trained in bf16 may have activations between the two: they become
infinite, and outputs become NaN. vLLM refuses such models in fp16.

## What to do

Use bf16; on accelerators without it, another model, or fp32.

## When to ignore it

Ignore it where the software keeps the residual stream in fp32, or clamps it.

## Fires

```yaml workload.precision
clusterspec: 1
cluster: {accelerator: t4, accelerators_per_node: 4, nodes: 1}
workload: {kind: serve, model: gemma-3-12b, precision: fp16, parameter_precision: fp16, serving: {input_tokens: 600, output_tokens: 150, concurrency: 4}}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: t4, accelerators_per_node: 4, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, precision: fp16, parameter_precision: fp16, serving: {input_tokens: 600, output_tokens: 150, concurrency: 4}}
layout: {framework: vllm, tp: 4}
```

## Sources

- Models that vLLM refuses in fp16: https://github.com/vllm-project/vllm/blob/main/vllm/config/model.py (`_FLOAT16_NOT_SUPPORTED_MODELS`)
- The overflow of Gemma 3: https://github.com/huggingface/transformers/pull/36832
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(workload: Workload, accelerator: Accelerator) -> Iterator[Problem]:
    if workload.precision != "fp16" or not workload.model.fp16_overflows:
        return
    message = f"activations of {workload.model.name} exceed 65,504, the largest number of fp16: outputs become infinite"
    help_ = "use bf16" if "bf16" in accelerator.peaks else f"{accelerator.name} has no bf16: use another model or part"
    yield RULE.problem("workload.precision", message, help_)
