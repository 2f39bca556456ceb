"""The framework does not combine this sharding with a pipeline.

## What it finds

`pp` above 1 with `sharding` zero2, fsdp or hsdp in DeepSpeed, or with fsdp or hsdp in Megatron Core or NeMo.

## Why it matters

Both assert at start. ZeRO stages 2 and 3 take gradients apart between micro-batches, where the pipeline still adds to them.

## What to do

`zero1` with the pipeline, or no pipeline with the sharding.

## When to ignore it

Never for these frameworks; torchtitan combines fsdp with a pipeline.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: torchtitan, pp: 4, sharding: fsdp}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1035
- DeepSpeed: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/pipe/engine.py#L77
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import framework
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.conditions import NO_PIPELINE
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(facts: Facts, layout: Layout) -> Iterator[Problem]:
    named = framework(facts)
    if layout.pp > 1 and layout.sharding in NO_PIPELINE.get(named, ()):
        message = f"{named} does not combine {layout.sharding} with a pipeline (pp {layout.pp})"
        yield RULE.problem("layout.sharding", message, "write `zero1`, or set pp to 1")
