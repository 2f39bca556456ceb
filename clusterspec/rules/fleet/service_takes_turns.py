"""A service under open load has its nodes only part of the time.

## What it finds

A job that serves requests under `load: open`, or at a `request_rate` with targets of latency, and takes turns with
another job (`nodes_of`) or states a `share` below 1. It is a warning, and an error where its `day` has requests in more hours
than the share gives. It is a note where the service has its nodes for a working day of eight hours or more, or where the load is not
`open` and the targets are for the median, which the service may meet in its own hours.

## Why it matters

Requests arrive all the time. While the other job has the nodes, requests queue unanswered: no latency percentile holds,
and the queue delays later requests.

## What to do

Give the service separate nodes, and let batch work take turns.

## When to ignore it

Ignore it where users send requests only while the service has the nodes.

## Fires

```yaml jobs.chat.share
clusterspec: 1
pools:
  shared: {platform: dgx-h200, nodes: 4}
jobs:
  tune: {pool: shared, share: 0.7, workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}}
  chat:
    pool: shared
    nodes_of: tune
    share: 0.3
    workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, request_rate: 6, load: open}}
    layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
pools:
  shared: {platform: dgx-h200, nodes: 4}
jobs:
  tune: {pool: shared, nodes: 3, workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 120}}
  chat:
    pool: shared
    nodes: 1
    workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, request_rate: 6, load: open}}
    layout: {tp: 8}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Job
from clusterspec.cluster.serving_load import DAY_MINUTES, minutes_of_hours
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "likely")
DAY = 8 / 24
"""Smallest share of the time at which a service can have its nodes during all working hours of its users."""


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        for each in pool.sets:
            for job in map(fleet.jobs.__getitem__, each.jobs):
                if job.term_share < 1 and _answers_users(job):
                    others = [f"`{name}`" for name in each.jobs if name != job.name]
                    owners = (
                        f"{and_list(others)} {'have' if len(others) > 1 else 'has'} them" if others else "it has none"
                    )
                    message = f"`{job.name}` serves requests as they arrive, but has its nodes for only {percent(job.term_share)} of the time: {owners} for the rest"
                    rented = pool.cluster is not None and pool.cluster.cloud  # the instances may run at peaks alone
                    severity = (
                        "" if _promises_a_tail(job.spec.workload) and job.term_share < DAY and not rented else "note"
                    )
                    severity = "error" if job.term_share < MOSTLY * _share_of_day(job) else severity
                    yield RULE.problem(
                        ("jobs", job.name, "share"), message, "give the job nodes of its own", severity=severity
                    )


MOSTLY = 0.95
"""Share of the hours with requests below which a service misses some of them, beyond rounding."""


def _share_of_day(job: Job) -> float:
    """The share of the day in which requests arrive, by the hours of the job; 0 without hours."""
    serving = job.spec.workload.serving if job.spec.workload else None
    if serving is None or not serving.day:
        return 0.0
    served = [
        minutes_of_hours(each.starts, each.to) for each in serving.day if each.request_rate and each.starts and each.to
    ]
    return len(frozenset().union(*served)) / DAY_MINUTES


def _promises_a_tail(workload: WorkloadSpec | None) -> bool:
    """Whether work that serves promises more than a median: it has open load or no targets, or a target above the 50th
    percentile.
    """
    serving = workload.serving if workload else None
    targets = serving.targets if serving else None
    if serving is None:
        return False
    if targets is None or serving.load == "open" or (serving.load is None and serving.request_rate is not None):
        return True
    times = (targets.ttft, targets.tpot, targets.itl, targets.end_to_end)
    by_percentile = any(each.keys() - {"p50"} for each in times if isinstance(each, dict))
    return by_percentile or (targets.percentile or 50) > 50


def _answers_users(job: Job) -> bool:
    """Whether a serving job answers users: its load is open, or it has both a request rate and targets."""
    workload = job.spec.workload
    serving = workload.serving if workload else None
    if serving is None or workload is None or workload.implied_kind != "serve":
        return False
    return serving.load == "open" or (serving.request_rate is not None and serving.targets is not None)
