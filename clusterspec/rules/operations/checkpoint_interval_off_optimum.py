"""Checkpoints are taken far more or less often than failures warrant.

## What it finds

A `checkpoint_interval` more than twice, or less than half, √(2 × time between failures × checkpoint time).

## Why it matters

Too often, and the run saves instead of training; too rarely, and each failure throws away hours. The optimum is flat: a factor of two
off costs a quarter more than the least loss, so only larger ones are reported.

## What to do

The interval that the help gives, or a faster checkpoint (asynchronous, or to local disks first).

## When to ignore it

Where checkpoints serve another purpose, such as evaluation; take the cheaper ones for failures in between.

## Fires

```yaml operations.checkpoint_interval
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 4 h, checkpoint_time: 60 s, mean_time_between_failures: 10 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 40 min, checkpoint_time: 60 s, mean_time_between_failures: 10 h}
```

## Sources

- Failures and goodput: https://arxiv.org/html/2410.18124v1
- The first-order optimum: https://doi.org/10.1145/361147.361115
- At scale: https://epoch.ai/blog/hardware-failures-wont-limit-ai-scaling
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.formulas.failures import best_interval, lost_share
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.failures import time_between_failures
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import percent, say

RULE = Rule.of(__name__, "warning", "likely")
OFF = 2.0


def check(facts: Facts, operations: OperationsSpec) -> Iterator[Problem]:
    between = time_between_failures(facts)
    if operations.checkpoint_interval is None or operations.checkpoint_time is None or not between:
        return
    interval, cost = operations.checkpoint_interval.value, operations.checkpoint_time.value
    best = best_interval(between, cost)
    if not 0 < cost < interval or best <= 0 or 1 / OFF <= interval / best <= OFF:
        return
    lost, least = lost_share(interval, between, cost), lost_share(best, between, cost)
    yield RULE.problem(
        "operations.checkpoint_interval",
        f"a checkpoint of {say(cost, 's')} every {say(interval, 's')} with a failure every {say(between, 's')} loses "
        f"{percent(lost, 2)} of the time; every {say(best, 's')} it would be {percent(least, 2)}",
        f"about {say(best, 's')}, which is √(2 × time between failures × checkpoint time)",
    )
