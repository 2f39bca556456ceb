"""The framework does not support this sharding with a pipeline.

## What it finds

`pp` above 1 with `sharding` zero2, fsdp or hsdp in DeepSpeed and Megatron-DeepSpeed; with fsdp or hsdp in Megatron Core
and NeMo of 2024 or earlier (`software_year`).

## Why it matters

The framework asserts at start. ZeRO stages 2 and 3 partition gradients between micro-batches, while a pipeline still
accumulates into them. PyTorch FSDP2 in Megatron asserts `pipeline_model_parallel_size == 1`; Megatron-FSDP, in releases
since 2025, has no such assertion.

## What to do

Use `zero1` with the pipeline, or no pipeline with the sharding.

## When to ignore it

Do not ignore it for these frameworks. torchtitan combines fsdp with a pipeline, but keeps whole weights and gradients
from the first micro-batch of a step to the last; Megatron-FSDP gathers and reduces for every micro-batch.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-deepspeed, pp: 4, sharding: zero2}
```

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, software_year: 2024, pp: 4, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: torchtitan, pp: 4, sharding: fsdp}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, sharding: fsdp}
```

## Sources

- FSDP2 in Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1034
- Megatron-FSDP and its conditions: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1118
- DeepSpeed's pipeline engine: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/pipe/engine.py#L76
- Megatron-DeepSpeed runs pipelines on that engine: https://github.com/deepspeedai/Megatron-DeepSpeed/blob/4efb479d5317ce9b86096b9d8e3e8030b0b5263b/pretrain_gpt.py#L51
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.legality import forbids_pipeline
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if layout.pp > 1 and forbids_pipeline(layout.capabilities, layout.sharding):
        message = f"{layout.framework} does not combine {layout.sharding} with a pipeline (pp {layout.pp}): it asserts at start"
        yield RULE.problem("layout.sharding", message, "write `sharding: zero1`, or set pp to 1")
