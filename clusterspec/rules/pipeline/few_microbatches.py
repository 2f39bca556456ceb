"""The pipeline has fewer than four micro-batches per stage.

## What it finds

pp above 1, with between pp and 4 × pp micro-batches.

## Why it matters

The authors of GPipe found the bubble negligible with at least 4 × pp micro-batches. With fewer, up to half of the step
is pipeline bubble.

## What to do

Use 4 × pp micro-batches, or virtual stages.

## When to ignore it

Ignore it where virtual stages already reduce the bubble.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {pp: 8, virtual_stages: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 8, virtual_stages: 4}
```

## Sources

- GPipe, section 2.3: https://arxiv.org/abs/1811.06965
- Narayanan et al.: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.pipeline import idle_share
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "heuristic")
WORKABLE = 4


def check(training: Workload, layout: Layout) -> Iterator[Problem]:
    """Problems of pipelines with few micro-batches; silent if the bubble exceeds a tenth of the step, which
    `pipeline-bubble` reports.
    """
    many = layout.micro_batches
    if layout.pp == 1 or many is None or not layout.pp <= many < WORKABLE * layout.pp:
        return
    bubble = idle_share(layout.pp, many, layout.virtual_stages)
    if bubble <= 0.10 or layout.schedule not in {"1f1b", "gpipe", "interleaved"}:
        batch = WORKABLE * layout.pp * layout.dp * layout.micro_batch
        message = (
            f"{many} micro-batches for {layout.pp} stages leave {percent(bubble, 2)} of the step idle; from "
            f"{WORKABLE * layout.pp} micro-batches on the pipeline bubble is small"
        )
        yield RULE.problem("layout.pp", message, f"use a global batch of {batch:,}, where convergence allows")
