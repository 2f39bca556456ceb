"""The pipeline bubble takes more than a tenth of the step.

## What it finds

An idle share of the step above 10 %, rounded to whole percents: (pp − 1) / (m × virtual stages + pp − 1) for m
micro-batches with 1f1b, gpipe and interleaved schedules, predicted for the others. The rule is silent where there are
fewer micro-batches than stages.

The finding is a note where the bubble is below a fifth of the step, which four micro-batches per stage achieve, or
below the half-width of the range of that difference; else a warning. It is an error where interleaved stages are
predicted to save a quarter of the step even at the low end of the range, or where more than 60 % of the step is idle.
It is a note where the stated batch allows nothing better: at least two micro-batches per stage, of one sequence each,
and no faster interleaved stages in the framework. Published runs of this kind idle up to 32 %. It is also a warning
where a smaller pp uses at most 80 % of the memory and makes the step shorter by a quarter.

## Why it matters

Accelerators idle while the pipeline fills and drains. With pp 8 and 16 micro-batches that is 30 % of the machine time;
with two virtual stages 18 %.

## What to do

Use more micro-batches (a larger batch, a smaller micro-batch, less data parallelism), virtual stages, no pipeline where
the memory suffices, or a schedule with a smaller bubble. Half the stages with the same batch have twice the replicas, so
half the micro-batches: the idle share stays.

## When to ignore it

Ignore it where convergence fixes the batch and memory fixes pp.

## Options

`thresholds = {pipeline-bubble = 0.10}` in the configuration sets the share above which the rule reports. The number is
a share of the predicted step time. The default is 0.10.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {pp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {pp: 8}
```

## Sources

- The bubble, and interleaving: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.pipeline import idle_share, micro_batches_for
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import INTERLEAVES, Alternative, WhatIf
from clusterspec.rules.knowledge.shares import A_QUARTER, SURELY_FITS, bubble_seconds, share_of_step
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import percent
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning")
MOST = 0.10
GROUPS = "requires.micro_batch_groups"
"""Name of a condition of frameworks that need a number of micro-batches divisible by the number of stages."""
LEAST_PER_STAGE = 2
"""Micro-batches per stage below which the batch is too small for its stages; published runs have two or more."""
USUAL = 0.2
"""Idle share (pp − 1) / (m + pp − 1) at m = 4 pp, for any pp. StarCoder idled 16 % with pp 4 (arXiv 2305.06161, section
5.5).
"""
SEVERE = 0.25
MOST_VIRTUAL_STAGES = 8
"""Largest number of virtual stages that is proposed: each one sends every micro-batch once more between ranks."""
LEAST = 0.01
"""Smallest share of the step for which a batch is proposed, whatever the configured threshold."""


def check(
    thresholds: Thresholds, training: Workload, model: Model, layout: Layout, timed: Plan | None, what_if: WhatIf
) -> Iterator[Problem]:
    many = layout.micro_batches
    if layout.pp == 1 or many is None or many < layout.pp:
        return
    idle, most = _idle_share(timed, layout, many), thresholds.of(RULE.name, MOST)
    if round(idle, 2) <= most:
        return
    wanted = ceil(micro_batches_for(max(most, LEAST), layout.pp, layout.virtual_stages) - 1e-9)
    if layout.capabilities.has(GROUPS) or (layout.virtual_stages > 1 and layout.capabilities.has(INTERLEAVES)):
        wanted = -(-wanted // layout.pp) * layout.pp
    batch = wanted * layout.dp * layout.micro_batch
    more = f"use a global batch of {batch:,} ({wanted} micro-batches)"
    stages = _fewest_virtual_stages(model, layout, many, most) if layout.virtual_stages == 1 else None
    split = f", or {stages} virtual stages" if stages else ""
    fewer = _fewer_stages(layout, what_if)
    severe = ", more than a quarter of the machine" if idle > SEVERE else ""
    yield RULE.problem(
        "layout.pp",
        f"the pipeline bubble is {percent(idle, 2)} {_name_of_base_time(idle, timed)}{severe}: pp {layout.pp} with {many} micro-batches"
        + (f" and {layout.virtual_stages} virtual stages" if layout.virtual_stages > 1 else ""),
        more + split + what_if.comparison(fewer or what_if.interleaved),
        severity="warning"  # published runs show that their authors accept it
        if fewer is not None
        else "note"
        if idle < USUAL
        else what_if.idle_severity(idle, avoidable=layout.micro_batch > 1 or many < LEAST_PER_STAGE * layout.pp),
        related=[("workload.global_batch", plural(training.global_batch, "sequence"))],
    )


def _fewer_stages(layout: Layout, what_if: WhatIf) -> Alternative | None:
    """The fastest layout with fewer stages that certainly fits in memory; None if none saves enough."""
    without: dict[str, object] = {"stage_layers": None, "virtual_stages": None, "schedule": None}
    degrees = [layout.pp // times for times in (2, 4, 8, 16) if layout.pp % times == 0]
    found = what_if.faster_alternatives(({"pp": each, **without} for each in degrees), A_QUARTER)
    fitting = [
        each
        for each in found
        if each.memory_bytes
        and each.stored.memory_capacity
        and each.memory_bytes <= SURELY_FITS * each.stored.memory_capacity
    ]
    saving = what_if.saved_share(fitting[0]) if fitting else None
    return fitting[0] if saving is not None and saving >= A_QUARTER else None


def _idle_share(timed: Plan | None, layout: Layout, many: int) -> float:
    """The idle share of the step."""
    if layout.schedule in {"1f1b", "gpipe", "interleaved"}:
        return float(idle_share(layout.pp, many, layout.virtual_stages))
    return share_of_step(bubble_seconds(timed), timed) if timed else 0.0


def _name_of_base_time(idle: float, timed: Plan | None) -> str:
    """The name of the time that a share refers to: the step, or its micro-batches if they do not fill the step."""
    whole = share_of_step(bubble_seconds(timed), timed) if timed else 0.0
    if not whole or percent(whole, 2) == percent(idle, 2):
        return "of the step"
    return f"of the time of the micro-batches, {percent(whole, 2)} of the step"


def _fewest_virtual_stages(model: Model, layout: Layout, many: int, most: float) -> int | None:
    """The smallest usual number of virtual stages that divides the layers and leaves at most the share ``most`` idle
    with ``many`` micro-batches; None if there is none.

    If the stages do not divide the layers, the loss, or embedding and loss, count as layers, as frameworks allow.
    """
    for layers in (model.layers, model.layers + 1, model.layers + 2):
        if layers % layout.pp == 0:
            usual = (each for each in range(2, MOST_VIRTUAL_STAGES + 1) if layers // layout.pp % each == 0)
            return next((each for each in usual if round(idle_share(layout.pp, many, each), 2) <= most), None)
    return None
