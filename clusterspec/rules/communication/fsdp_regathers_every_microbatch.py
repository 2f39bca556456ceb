"""fsdp gathers every weight again for each of many micro-batches.

## What it finds

Sharding fsdp over several domains, with more than four micro-batches per step; in a pipeline too, unless the framework
keeps gathered weights there, as torchtitan does. The finding is a note where the gathers expose less of the predicted
step than the half-width of its range, a warning above it and where the time is not known.

## Why it matters

The traffic of fsdp grows with the number of micro-batches; the traffic of zero1 and zero2 stays the same. With 16
micro-batches, fsdp gathers the weights 32 times per step, zero1 once.

## What to do

Use zero1 or zero2 where memory allows, hsdp, or fewer and larger micro-batches.

## When to ignore it

Ignore it where the all-gathers overlap with computation; `clusterspec estimate` shows the exposed time.

## Options

`thresholds = {fsdp-regathers-every-microbatch = 4}` in the configuration sets the number of micro-batches per step
above which the rule reports. The default is 4.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 16384, global_batch: 512}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 1}
```

```yaml layout.sharding
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 16384, global_batch: 512}
layout: {framework: megatron-core, tp: 1, pp: 2, sharding: fsdp, recompute: full, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 16384, global_batch: 128}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 16384, global_batch: 512}
layout: {framework: torchtitan, tp: 1, pp: 2, sharding: fsdp, recompute: full, micro_batch: 1}
```

## Sources

- Megatron-FSDP frees weights after each pass and reduces gradients after every backward pass: https://github.com/NVIDIA/Megatron-LM/blob/00caa53af30912914981c86f39db123961678bbd/megatron/core/distributed/fsdp/src/megatron_fsdp/megatron_fsdp.py
- Traffic of each stage: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/model-parallelism/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import SHARD_AXES, exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements, Thresholds
from clusterspec.rules.rule import Rule

RULE = Rule.of(
    __name__, "warning", "heuristic", yields_to=("fsdp-across-nodes", "fsdp-gather-exposed", "frozen-weights-gathered")
)
MOST = 4


def check(
    placements: Placements, thresholds: Thresholds, training: Workload, layout: Layout, timed: Plan | None
) -> Iterator[Problem]:
    many = layout.micro_batches
    if layout.sharding != "fsdp" or many is None or many <= thresholds.of(RULE.name, MOST):
        return
    if layout.pp > 1 and (layout.stack is None or layout.stack.memory_of("fsdp").kept_in_pipelines):
        return
    placement = placements.of("shard")
    if placement is not None and placement.domains > 1:
        message = f"fsdp over {placement.domains:,} domains gathers every weight twice for each of {many} micro-batches"
        lost = share_of_step(exposed_seconds(timed, SHARD_AXES), timed) if timed and timed.step else None
        yield RULE.problem(
            "layout.sharding",
            message,
            "use zero1 or zero2 where they fit, hsdp, or fewer and larger micro-batches",
            severity=step_severity(lost, timed, "warning", most="warning"),
        )
