"""The checkpoint interval is far from the optimum for this failure rate.

## What it finds

A `checkpoint_interval` more than twice, or less than half, the optimum √(2 × time between failures × checkpoint time).
Without a stated failure rate, more than three times the optimum at the rate of Llama 3's training (one interruption for
each 50,700 accelerator-hours). Without a stated checkpoint time, the time follows from the bandwidth of the storage
system and the model. The rule does not use a stated failure rate that `optimistic-failure-rate` reports.

The finding is a note where the optimum would save less than five percent of the time, else a warning, and an error if,
at a stated failure rate, the interval loses a quarter of the time more than the optimum does.

## Why it matters

With a short interval the run spends its time saving; with a long one each failure loses hours of work. The optimum is
flat: at twice the optimal interval the loss is a quarter higher, so only larger deviations are reported.

## What to do

Use the interval in the help, or a faster checkpoint (asynchronous, or to local disks first).

## When to ignore it

Ignore it where checkpoints serve another purpose, such as evaluation. Save cheaper checkpoints for failures in between.

## Fires

```yaml operations.checkpoint_interval
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 4 h, checkpoint_time: 60 s, mean_time_between_failures: 10 h}
```

```yaml operations.checkpoint_interval
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 12 h, burn_in: 72 h}
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

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.failures import best_interval, lost_share
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import checkpoint_time
from clusterspec.rules.knowledge.failures import FailureRate
from clusterspec.rules.knowledge.shares import EXACT, cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
OFF = 2.0
FAR_OFF = 3.0
WORTH = 0.05
"""Smallest share of the time at which a better interval is worth more than a note."""
OPTIMISTIC = 3.0
"""Smallest multiple of the usual time between failures at which `optimistic-failure-rate` doubts the stated time."""
"""Ratio to the optimum that is reported without a stated failure rate: a rate three times as low moves the optimum by 1.7."""


def check(
    operations: OperationsSpec,
    failures: FailureRate,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    stated = failures.stated
    if stated and failures.usual and stated > OPTIMISTIC * failures.usual:
        return
    between = stated or failures.usual
    saving = checkpoint_time(operations, networks, model, workload, layout)
    if operations.interval is None or saving is None or not between:
        return
    interval, cost = operations.interval.value, saving.seconds
    best = best_interval(between, cost)
    if not 0 < cost < interval or best <= 0 or _is_near_optimum(interval / best, stated is not None):
        return
    lost, least = lost_share(interval, between, cost), lost_share(best, between, cost)
    rate = f"one failure every {display(between, 's')}" + (
        "" if stated else " (the rate of Llama 3's training; none is stated)"
    )
    yield RULE.problem(
        operations.interval_key,
        f"a checkpoint of {display(cost, 's')} every {display(interval, 's')} loses {percent(min(lost, 1.0), 2)} of the time at {rate}; an interval "
        f"of {display(best, 's')} loses {percent(least, 2)}",
        f"use about {display(best, 's')}, which is √(2 × time between failures × checkpoint time)",
        severity=_severity(lost - least, stated is not None),
        confidence="" if stated else "heuristic",
    )


def _severity(gain: float, stated: bool) -> str:
    """Severity by the share of the time that the optimal interval saves."""
    if gain < WORTH:
        return "note"
    return cost_severity(gain, EXACT) if stated else "warning"


def _is_near_optimum(ratio: float, stated: bool) -> bool:
    """Whether an interval is near the optimum; ``ratio`` is the interval divided by the optimum. Without a stated
    failure rate, only intervals that are far too long are not.
    """
    return 1 / OFF <= ratio <= OFF if stated else ratio <= FAR_OFF
