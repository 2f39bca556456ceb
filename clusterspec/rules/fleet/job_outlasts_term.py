"""A job that shares its nodes in turns does not end within the term, or within its target.

## What it finds

A training job with `share` below 1 whose time over its share is longer than `procurement.term`, or than
`operations.targets.run_time`. `term-shorter-than-run` and `run-longer-than-target` report runs that are too long even
with all of the time, at the low end of their range.

The finding is a note below the half-width of the prediction's range, a warning above it, and an error where the job
exceeds the term by a quarter even at the low end of the range.

## Why it matters

Each job alone seems to fit. The job that waits for its turns ends after the machine is gone.

## What to do

Give the job a larger share or more nodes, or fewer tokens.

## When to ignore it

Ignore it where the job goes on elsewhere.

## Fires

```yaml jobs.big.share
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 8}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year}
jobs:
  big:
    pool: train
    share: 0.25
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 8T}
    layout: {framework: megatron-core, tp: 2}
  rest:
    pool: train
    nodes_of: big
    share: 0.75
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T}
    layout: {framework: megatron-core, tp: 2}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 8}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years}
jobs:
  big:
    pool: train
    share: 0.5
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T}
    layout: {framework: megatron-core, tp: 2}
  rest:
    pool: train
    nodes_of: big
    share: 0.5
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T}
    layout: {framework: megatron-core, tp: 2}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Job
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.shares import step_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")


def check(fleet: Fleet) -> Iterator[Problem]:
    term = fleet.spec.procurement.term if fleet.spec.procurement else None
    for job in fleet.jobs.values():
        if not 0 < job.term_share < 1 or job.design is None:
            continue
        work, operations = job.design.workload, job.design.spec.operations
        target = operations.targets.run_time if operations is not None and operations.targets is not None else None
        if work is None or not work.tokens or (term is None and target is None):
            continue
        from clusterspec.cost.estimate import legal_estimate  # fleets without shares and terms need no estimate

        plan = legal_estimate(job.design)
        if (
            term is not None and (missed := _lateness_problem(job, plan, term, "the machine is there for")) is not None
        ) or (target is not None and (missed := _lateness_problem(job, plan, target, "its target is")) is not None):
            yield missed


def _lateness_problem(job: Job, plan: Plan, limit: Quantity, what: str) -> Problem | None:
    """The problem of a run that would meet a time limit with all of the machine's time, but misses it with its share.
    The low end of the predicted range counts for the run with all of the time; None without such a problem.
    """
    run = plan.time_to_train
    if run is None:
        return None
    least = run * plan.step_time_range[0] / plan.step_seconds if plan.step_time_range and plan.step_seconds else run
    if not least <= limit.value < run / job.term_share:
        return None
    message = f"job `{job.name}` computes for {display(run, 's')} and has {percent(job.term_share)} of the time: it takes {display(run / job.term_share, 's')}, but {what} {limit.written}"
    severity = step_severity(1 - limit.value * job.term_share / run, plan)
    help_ = "give it a larger share, more nodes or fewer tokens"
    return RULE.problem(("jobs", job.name, "share"), message, help_, severity=severity)
