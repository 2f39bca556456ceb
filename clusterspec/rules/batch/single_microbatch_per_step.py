"""Each replica runs one micro-batch per step, so the gradient reduction overlaps with a single backward pass.

## What it finds

No pipeline, data parallelism across nodes, and one micro-batch per replica and step.

## Why it matters

The gradient reduction overlaps only with the last backward pass of a step. With more accumulation, the same traffic is
a smaller share of the step.

## What to do

Use a larger global batch where convergence allows, or fewer replicas.

## When to ignore it

Ignore it where the estimate shows no exposed reduction.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 32}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 1}
```

## Sources

- Guidance on overlap: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "note", "heuristic")


def check(placements: Placements, training: Workload, layout: Layout) -> Iterator[Problem]:
    if layout.pp > 1 or layout.dp == 1 or layout.micro_batches != 1:
        return
    placement = placements.of("dp")
    if placement is not None and placement.nodes > 1:
        message = f"a batch of {plural(training.global_batch, 'sequence')} is one micro-batch for each of {layout.dp:,} replicas, so the gradient reduction overlaps with a single backward pass"
        yield RULE.problem(
            "workload.global_batch", message, "use a larger batch where convergence allows, or fewer replicas"
        )
