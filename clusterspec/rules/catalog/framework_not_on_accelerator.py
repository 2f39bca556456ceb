"""The framework, or its release, does not run on the accelerator.

## What it finds

A framework whose catalog entry does not list the vendor of the accelerator; or a release from before the
accelerator's architecture was added, or after it was dropped. The finding is an error where the entry cites a document,
and a warning otherwise. The rule is silent where the entry states neither. `attention: flash-2` on an NVIDIA part older
than Ampere is an error, too.

## Why it matters

The software has no kernels, compiler or collectives for the device, so the job does not start. The predicted times and
sizes have no basis.

## What to do

Name a framework that runs on the accelerator, or an accelerator on which the framework runs.

## When to ignore it

Ignore it for a port of your own; better, describe the port by a catalog entry with this framework as its `base` and its
own `vendors`.

## Fires

```yaml layout.framework
clusterspec: 1
cluster: {accelerator: mi300x, accelerators_per_node: 8, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {framework: trt-llm}
```

```yaml layout.software
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {software: vllm 0.6}
```

```yaml workload.attention
clusterspec: 1
cluster: {platform: dgx-2, nodes: 1}
workload: {model: gpt-3.6b, sequence_length: 2048, global_batch: 512, precision: fp16, loss_scaling: dynamic, attention: flash-2}
layout: {framework: megatron-deepspeed, tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: mi300x, accelerators_per_node: 8, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}
layout: {framework: vllm}
```

## Sources

- TensorRT LLM: https://nvidia.github.io/TensorRT-LLM/supported-hardware.html
- vLLM: https://docs.vllm.ai/en/v0.9.2/getting_started/installation/index.html
- GPUs of FlashAttention-2: https://github.com/Dao-AILab/flash-attention/blob/main/README.md
- SGLang: https://docs.sglang.io/docs/hardware-platforms/overview.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.legality import refused_statements
from clusterspec.cluster.model import Design, Layout
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.support import refusal_message
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import LayoutSpec, WorkloadSpec

RULE = Rule.of(__name__, "error")
BEFORE_AMPERE = frozenset({"sm_60", "sm_61", "sm_70", "sm_72", "sm_75"})
"""NVIDIA architectures before Ampere, which lack the asynchronous copies that FlashAttention-2 uses."""


def check(
    design: Design, written_layout: LayoutSpec, accelerator: Accelerator, layout: Layout, written_workload: WorkloadSpec
) -> Iterator[Problem]:
    framework = layout.capabilities.framework
    if written_workload.attention == "flash-2" and accelerator.architecture in BEFORE_AMPERE:
        message = f"the kernels of FlashAttention-2 are for Ampere (sm_80) and newer, but {accelerator.id} is {accelerator.architecture}"
        yield RULE.problem(
            "workload.attention", message, "write `attention: plain`, or `flash` for another fused kernel"
        )
    if (not framework.vendors or accelerator.software_vendor in framework.vendors) and not layout.capabilities.refused:
        return
    at = "layout.framework" if written_layout.framework else "layout.software"
    if framework.vendors and accelerator.software_vendor not in framework.vendors:
        runs = and_list(list(framework.vendors))
        message = (
            f"{layout.framework} runs on accelerators of {runs}, but {accelerator.id} is from {accelerator.vendor}"
        )
        severity = "error" if framework.vendors_sourced else "warning"
        yield RULE.problem(at, message, "name a framework that runs on it, or another accelerator", severity=severity)
        return
    release = layout.capabilities.release or f"{layout.framework} of {layout.software_year}"
    for statement, used in refused_statements(design):
        if not statement.combination.uses:
            found = refusal_message(release, statement, used, accelerator.id)
            severity = "error" if statement.feature.is_sourced else "warning"
            yield RULE.problem(at, found.message, found.help, severity=severity)
