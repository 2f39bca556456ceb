"""There are fewer micro-batches than pipeline stages.

## What it finds

pp above 1 and fewer micro-batches (global batch / (dp × micro-batch)) than stages, or, with the dualpipe schedule, than
twice as many, or an odd number. The finding is an error with dualpipe, which asserts the number, and in torchtitan,
which rejects fewer. Otherwise it is a note where the idle share is below the half-width of the range of that
difference, and a warning above it. It is also an error where interleaved stages are predicted to save a quarter of the
step even at the low end of the range, or where more than 60 % of the step is idle.

## Why it matters

Some stages are idle throughout the step: with 4 micro-batches on 8 stages, at least 7/11 of the machine time is idle.
Some schedules hang.

## What to do

Use a larger global batch, a smaller micro-batch, a smaller pp, or less data parallelism.

## When to ignore it

Ignore it for benchmarks of one micro-batch.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 32}
layout: {pp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {pp: 8}
```

## Sources

- DualPipe asserts an even number of at least twice the ranks: https://github.com/deepseek-ai/DualPipe/blob/bb214e82b5933d4cf4249eb76c27076428061c7c/dualpipe/dualpipe.py
- torchtitan refuses: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/distributed/pipeline_parallel.py#L308
- A user who met it: https://github.com/pytorch/torchtitan/issues/775
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cluster.pipelines import refuses_few_micro_batches
from clusterspec.cost.formulas.pipeline import idle_share
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.units import percent
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning")


def check(legality: Legality, training: Workload, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    many = layout.micro_batches
    if layout.pp == 1 or many is None or not legality.has_integer_dp:
        return
    refused = refuses_few_micro_batches(layout)
    if layout.schedule == "dualpipe" and refused:
        yield _dualpipe_problem(layout, many)
        return
    if many >= layout.pp:
        return
    idle = idle_share(layout.pp, many, layout.virtual_stages)
    batch = layout.pp * layout.dp * layout.micro_batch
    yield RULE.problem(
        "layout.pp",
        f"{plural(many, 'micro-batch')} for {layout.pp} stages: about {percent(idle, 2)} of the pipeline schedule is idle",
        f"use a global batch of at least {batch:,}, a smaller micro-batch, or pp of at most {many}"
        + what_if.comparison(what_if.interleaved),
        severity="error" if refused else what_if.idle_severity(idle),
        related=[("workload.global_batch", plural(training.global_batch, "sequence"))],
    )


def _dualpipe_problem(layout: Layout, many: int) -> Problem:
    """The problem of the DualPipe schedule with too few micro-batches: it feeds them from both ends and fills all
    stages from each.
    """
    least = 2 * layout.pp
    message = f"`schedule: dualpipe` needs an even number of at least {least} micro-batches for {layout.pp} stages, two for each, but the batch has {many}"
    wanted = max(least, many + many % 2) * layout.dp * layout.micro_batch
    help_ = f"use a global batch of {wanted:,}, a smaller pp, or another schedule"
    return RULE.problem("workload.global_batch", message, help_, severity="error")
