"""Engines start when the load of a day has risen, and requests wait until they serve.

## What it finds

A rise of the load in `workload.serving.day` that the running engines cannot serve, where the new engines start too late
(`scaling.ahead` shorter than `scaling.cold_start`). The message states the number of requests that wait when the new
engines are ready, and the longest wait. The finding is an error if that wait exceeds the target for the time to first
token over the whole range of the predicted throughput. Without a target, a wait above 10 s is a warning. Otherwise the
finding is a note.

## Why it matters

Between the rise of the load and the first answer of a new engine, all requests beyond the throughput of the running
engines queue. The new engines have to serve the load and the queue, so the wait lasts longer than the cold start.

## What to do

Start engines at least their cold start before the load rises (`ahead`), keep more of them running (`min_replicas`), or
shorten the cold start: weights on local drives, compiled kernels and captured graphs from a cache.

## When to ignore it

Ignore it where a load balancer sheds the excess, or where batches may wait.

## Fires

```yaml workload.serving.scaling.ahead
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 2000
    output_tokens: 300
    day: [{from: "08:00", to: "20:00", request_rate: 12}, {from: "20:00", to: "08:00", request_rate: 1}]
    scaling: {cold_start: 5 min, ahead: 0 s}
    targets: {ttft: 1 s}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 2000
    output_tokens: 300
    day: [{from: "08:00", to: "20:00", request_rate: 12}, {from: "20:00", to: "08:00", request_rate: 1}]
    scaling: {cold_start: 5 min, ahead: 10 min}
    targets: {ttft: 1 s}
layout: {framework: vllm, tp: 8}
```

## Sources

- A queue that fills while the offered load exceeds the service rate (deterministic fluid limit): Kleinrock, Queueing Systems, volume 2, 1976, chapter 2
- Time to start engines of large models: https://arxiv.org/abs/2401.14351
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import range_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, rounded

RULE = Rule.of(__name__, "warning", "likely")
LONGEST = 10.0
"""Seconds that a user waits for the first token, if the spec has no target."""


def check(served: Served) -> Iterator[Problem]:
    day = served.plan.day
    if day is None or not day.late:
        return
    worst = max(day.late, key=lambda each: each.wait)
    target = served.load.tightest_target("ttft")
    limit = target.seconds if target else LONGEST
    drained = f", and the queue is empty {display(worst.drained, 's')} after the rise" if worst.drained else ""
    aim = f" against a target of {display(limit, 's')}" if target else ""
    message = (
        f"at {worst.minute // 60:02}:{worst.minute % 60:02} the load rises from {plain(worst.before, 3)} to "
        f"{plain(worst.rate, 3)} requests a second, and more engines serve {display(worst.late, 's')} later: running ones serve "
        f"{plain(worst.capacity, 2)}, so {display(rounded(worst.waiting, 2), '1')} requests wait by then, the last for {display(worst.wait, 's')}{aim}{drained}"
    )
    yield RULE.problem(
        f"{LOAD}.scaling.ahead",
        message,
        "start engines at least `cold_start` before the load rises (`ahead`), or keep more running (`min_replicas`)",
        severity=target_severity(limit, worst.wait, _wait_factors(served), most="error" if target else "warning"),
    )


def _wait_factors(served: Served) -> tuple[float, float]:
    """The low and high end of a wait's range, relative to its prediction; the wait depends on the throughput that
    clears the queue.
    """
    low, high = range_factors(served.times, "output_tokens_per_second")
    return 1 / high, 1 / low
