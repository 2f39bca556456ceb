"""A noticeable part of each step goes into filling and draining the pipeline.

## What it finds

An idle share of the step above 10 %, rounded to whole percents: (pp − 1) / (m × virtual stages + pp − 1) for m micro-batches with 1f1b, gpipe and interleaved
schedules, by the cost model for the others. Silent where there are fewer micro-batches than stages.

## Why it matters

Idle accelerators are paid for. With pp 8 and 16 micro-batches it is 30 % of the machine; two virtual stages make it 18 %.

## What to do

More micro-batches (a larger batch, a smaller micro-batch, less data parallelism), virtual stages, a smaller pp, or a schedule
that fills the gaps.

## When to ignore it

Where the batch is fixed by convergence and memory fixes pp; the rest is the price of the model's size.

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

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.pipeline import idle_share, micro_batches_for
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.shares import bubble, share
from clusterspec.rules.rule import Rule
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning")
MOST = 0.10
GRAVE = 0.25
LEAST = 0.01
"""A share of the step that no batch is asked for to get below, whatever a team configured."""


def check(facts: Facts, training: Workload, layout: Layout) -> Iterator[Problem]:
    many = layout.micro_batches
    if layout.pp == 1 or many is None or many < layout.pp:
        return
    idle, most = _idle(facts, layout, many), facts.threshold(RULE, MOST)
    if round(idle, 2) <= most:
        return
    wanted = ceil(micro_batches_for(max(most, LEAST), layout.pp, layout.virtual_stages) - 1e-9)
    batch = wanted * layout.dp * layout.micro_batch
    more = f"a global batch of {batch:,} ({wanted} micro-batches)"
    split = "" if layout.virtual_stages > 1 else f", or {_virtual(facts, layout)} virtual stages"
    grave = ", more than a quarter of the machine" if idle > GRAVE else ""
    yield RULE.problem(
        "layout.pp",
        f"{percent(idle, 2)} of the step fills and drains the pipeline{grave}: pp {layout.pp} with {many} micro-batches"
        + (f" and {layout.virtual_stages} virtual stages" if layout.virtual_stages > 1 else ""),
        more + split + ", or a smaller pp",
        related=[("workload.global_batch", f"{training.global_batch:,} sequences")],
    )


def _idle(facts: Facts, layout: Layout, many: int) -> float:
    """The idle share of the step."""
    if layout.schedule in {"1f1b", "gpipe", "interleaved"}:
        return float(idle_share(layout.pp, many, layout.virtual_stages))
    return share(bubble(facts.timed), facts.timed) if facts.timed else 0.0


def _virtual(facts: Facts, layout: Layout) -> int:
    """The smallest number of virtual stages, above one, that the layers divide into; 2 where they are not known."""
    layers = facts.model.layers // layout.pp if facts.model else 2
    return next((stages for stages in range(2, layers + 1) if layers % stages == 0), 2)
