"""The plan expects fewer failures than comparable machines had.

## What it finds

A time between failures of the job longer than in the most reliable published fleet (2.34 failures in 1,000 node-days):
a note, and a warning from four times that time on. For accelerators other than GPUs it stays a note, since no failure rate
of training is published for them. Above thirty times the time between failures of Llama 3's training it is an error.

## Why it matters

Llama 3 had 419 unexpected interruptions in 54 days on 16,384 H100: one for each 50,700 accelerator-hours. The most
reliable of the published fleets had 82,100. A plan with fewer failures than all of them overestimates goodput, and
underestimates spares and checkpoints. For other accelerators no such rate is published; on TPU v4, hardware stopped
about one training job in a hundred.

## What to do

Plan with the figure of the message, or cite the log of this machine.

## When to ignore it

Ignore it for a machine whose own log shows the rate, after its first months.

## Fires

```yaml operations.mean_time_between_failures
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256}
operations: {mean_time_between_failures: 30 days}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256}
operations: {mean_time_between_failures: 24 h}
```

## Sources

- Llama 3, section 3.3.4: https://arxiv.org/abs/2407.21783
- Jobs on TPU v4: https://www.usenix.org/conference/nsdi24/presentation/zu
- Failures by kind: https://arxiv.org/html/2410.21680v2
- Components: https://glennklockwood.com/garden/component-reliability
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.failures import FailureRate
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "heuristic")
FAR = 4.0
"""Ratio to the time between failures of the most reliable published fleet above which a stated time is a warning."""
ABSURD = 30.0
"""Ratio to the usual time between failures above which a stated time is an error: it exceeds the span of all published
fleets.
"""


def check(operations: OperationsSpec, failures: FailureRate, job_nodes: int | None) -> Iterator[Problem]:
    between, usual, best, nodes = failures.stated, failures.usual, failures.best, job_nodes
    if not between or not usual or not best:
        return
    if between > best:
        key = "mean_time_between_failures" if operations.mean_time_between_failures else "node_mtbf"
        message = (
            f"one failure every {display(between, 's')} is {plain(between / usual)} times as rare as in Llama 3's training, which had "
            f"one every {display(usual, 's')} at this size; the most reliable published fleet would have one every {display(best, 's')}"
        )
        help_ = f"plan with {display(usual, 's')}, or cite the log of this machine"
        if key == "mean_time_between_failures" and nodes and between / nodes <= best:
            help_ = f"it looks like the figure of one node: write `node_mtbf`; else {help_}"
        severity = (
            "error" if between > ABSURD * usual else "warning" if failures.of_gpus and between > FAR * best else "note"
        )
        yield RULE.problem(f"operations.{key}", message, help_, severity=severity)
