"""The memory fraction of an engine leaves too little memory outside it.

## What it finds

A stated `memory_fraction` above 0.95 that leaves less than 2 GB of a rank's memory: a warning, and an error where it
leaves less than half of that. The rule is silent on TPUs, for which published recipes use 0.98.

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

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 8000, output_tokens: 500, concurrency: 64, memory_fraction: 0.95}}
layout: {tp: 1}
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
LEAST = 2e9
"""Fewest bytes of a rank that context, graphs and buffers take, by the range of `serving.reserved`."""


def check(workload: Workload, written_workload: WorkloadSpec, cluster: Cluster) -> Iterator[Problem]:
    share = written_workload.serving.memory_fraction if written_workload.serving else None
    memory = cluster.accelerator.memory
    if workload.serving is None or share is None or memory is None or share <= HIGHEST_FRACTION:
        return
    if cluster.accelerator.vendor == TPU_VENDOR:
        return
    left = (1 - share) * memory.value / cluster.ranks_per_accelerator
    if left < LEAST:
        yield RULE.problem(
            "workload.serving.memory_fraction",
            f"a share of {percent(share, 2)} for weights and cache leaves {display(max(0.0, left), 'B')} on a rank, less than the {display(LEAST, 'B')} that "
            f"buffers and activations outside it take at least",
            "use 0.90 to 0.95",
            severity="error" if left < LEAST / 2 else "",
        )
