"""The schedule and the number of virtual stages contradict each other.

## What it finds

`schedule: interleaved` with one virtual stage (or none stated), or `1f1b` or `gpipe` with more than one.

## Why it matters

Single-stage and multi-stage schedules are different: torchtitan rejects the pair. Megatron derives the schedule from
the number of stages and ignores the other setting, so the bubble differs from the planned one.

## What to do

Use two or more virtual stages with `interleaved`, and one with `1f1b` and `gpipe`.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.schedule
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, schedule: interleaved}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, schedule: interleaved, virtual_stages: 2}
```

## Sources

- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/distributed/pipeline_parallel.py#L235
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error")
ONE_STAGE = {"1f1b", "gpipe"}


def check(written_layout: LayoutSpec) -> Iterator[Problem]:
    schedule, stages = written_layout.schedule, written_layout.virtual_stages or 1
    if schedule == "interleaved" and stages == 1:
        message = "the interleaved schedule needs two or more virtual stages, but the layout has one"
        yield RULE.problem("layout.schedule", message, "write `virtual_stages: 2`, or `schedule: 1f1b`")
    elif schedule in ONE_STAGE and stages > 1:
        message = f"{schedule} runs one stage per rank, not {stages} virtual stages"
        yield RULE.problem("layout.schedule", message, "write `schedule: interleaved`, or drop `virtual_stages`")
