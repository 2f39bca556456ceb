"""This release of Megatron Core does not support full sharding with expert parallelism.

## What it finds

Megatron Core or NeMo of 2024 or earlier (`software_year`) with `sharding: fsdp` or `hsdp` and `ep` above 1.

## Why it matters

Until Core 0.15 (2025) the only full sharding was PyTorch FSDP2 (`--use-torch-fsdp2`), which asserts
`expert_model_parallel_size == 1` at start. Megatron-FSDP (`--use-megatron-fsdp`) of later releases supports expert
parallelism.

## What to do

Use `zero1`, which shards the optimizer states of experts over their own data-parallel ranks; or a release with
Megatron-FSDP.

## When to ignore it

Ignore it where a newer Megatron-FSDP was backported.

## Fix safety

The fix is unsafe: it writes `sharding: zero1`, which needs more memory on each rank.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, software_year: 2024, ep: 8, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, ep: 8, sharding: fsdp}
```

## Sources

- The assertion of FSDP2: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1036
- Megatron-FSDP with expert parallelism, a functional test: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/tests/functional_tests/test_cases/moe/deepseek_proxy_fsdp_ep2_fsdp2/model_config.yaml#L14
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.legality import forbids_expert_parallel
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if layout.ep == 1 or not forbids_expert_parallel(layout.capabilities, layout.sharding):
        return
    message = (
        f"{layout.framework} of {layout.software_year} does not support {layout.sharding} with expert "
        f"parallelism (ep {layout.ep}): its FSDP2 asserts ep 1"
    )
    feature = layout.capabilities.framework.features["expert_parallel." + layout.sharding]
    later = f", or use a release of {feature.since_year} or later with Megatron-FSDP" if feature.since_year else ""
    help_ = f"write `sharding: zero1`{later}"
    yield RULE.problem("layout.sharding", message, help_, fix=value_fix("layout.sharding", "zero1"))
