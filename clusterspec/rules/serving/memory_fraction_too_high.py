"""The memory fraction of an engine leaves too little memory outside it.

## What it finds

A stated `memory_fraction` above 0.95 that leaves less than 2 GB of a rank's memory: a warning, and an error where it
leaves less than half of that. The rule is silent on TPUs, for which published recipes use 0.98.

A `memory_fraction` that, with the memory that another process holds on each accelerator according to the description, takes more
than there is: an error.

## Why it matters

Weights and cache fill this fraction completely. Driver context, captured graphs, buffers of the collective library and
prefill activations need another 2 to 3 GB per rank: the engine runs out of memory at start or, worse, at the first long
prompts.

## What to do

Use 0.90 to 0.95. To hold more requests, store the cache in fewer bytes (`kv_precision: fp8`) or use more ranks.

## When to ignore it

Ignore it where the engine was tested with this fraction under full load.

## Fires

```yaml workload.serving.memory_fraction
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 8000, output_tokens: 500, concurrency: 64, memory_fraction: 0.99}}
layout: {tp: 1}
```

```yaml workload.serving.memory_fraction
clusterspec: 1
description: A safety model stays resident on every GPU and takes 24 GB of its memory.
cluster: {platform: dgx-h200, nodes: 4}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 400, request_rate: 12, memory_fraction: 0.9}}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 8000, output_tokens: 500, concurrency: 64, memory_fraction: 0.95}}
layout: {tp: 1}
```

```yaml
clusterspec: 1
description: A safety model stays resident on every GPU and takes 12 GB of its memory.
cluster: {platform: dgx-h200, nodes: 4}
workload: {kind: serve, model: llama-3.3-70b, serving: {input_tokens: 2000, output_tokens: 400, request_rate: 12, memory_fraction: 0.9}}
layout: {framework: vllm, tp: 4}
```

## Sources

- What an engine's share has to hold, and no share of 1: https://docs.vllm.ai/projects/vllm-omni/en/latest/configuration/gpu_memory_utilization/
- 0.98 on TPU v6e: https://github.com/AI-Hypercomputer/tpu-recipes/blob/main/inference/trillium/vLLM/Llama3.1/README.md
- Memory that runs out at start: https://docs.nvidia.com/nim/large-language-models/latest/troubleshooting/memory.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.serving.constants import HIGHEST_FRACTION
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
TPU_VENDOR = "Google"
KEY = "workload.serving.memory_fraction"
LEAST = 2e9
"""Fewest bytes of a rank that context, graphs and buffers take, by the range of `serving.reserved`."""


def check(
    workload: Workload, written_workload: WorkloadSpec, cluster: Cluster, own_remarks: str | None
) -> Iterator[Problem]:
    share = written_workload.serving.memory_fraction if written_workload.serving else None
    memory = cluster.accelerator.memory
    if workload.serving is None or share is None or memory is None:
        return
    if own_remarks:
        yield from _resident_problem(own_remarks, share, memory.value)
    if share <= HIGHEST_FRACTION or cluster.accelerator.vendor == TPU_VENDOR:
        return
    left = (1 - share) * memory.value / cluster.ranks_per_accelerator
    if left < LEAST:
        yield RULE.problem(
            KEY,
            f"a share of {percent(share, 2)} for weights and cache leaves {display(max(0.0, left), 'B')} on a rank, less than the {display(LEAST, 'B')} that "
            f"buffers and activations outside it take at least",
            "use 0.90 to 0.95",
            severity="error" if left < LEAST / 2 else "",
        )


def _resident_problem(text: str, share: float, memory: float) -> Iterator[Problem]:
    """The problem of a share of the memory, in bytes, that another process on each accelerator does not leave."""
    from clusterspec.rules.readers.plans.resident_memory import resident_memory  # few texts name another process

    other = resident_memory(text)
    if other is not None and share * memory + other.bytes > memory:
        message = f"the engine takes {percent(share, 2)} of {display(memory, 'B')}, {display(share * memory, 'B')}, but according to the text another process holds `{other.words}` on each accelerator"
        most = int((memory - other.bytes) / memory * 100) / 100
        yield RULE.problem(KEY, message, f"use at most {most:g}", severity="error")
