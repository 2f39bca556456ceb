"""Failures and checkpoints take more of the time than in published runs.

## What it finds

A goodput below 90 %, or below `operations.targets.goodput`: the share of the time spent on steps that are kept, as
`clusterspec cost` prints it. The rule applies where the spec has `operations`. Without a stated failure rate it uses
the lowest published rate. The finding is a note down to 85 %, since published runs on 16,000 accelerators have about 90
%, and where neither a target nor a failure rate is stated. Otherwise it is an error where a quarter of the time is
lost, or where even the high end of the range misses the target, and a warning below that. Where `operations.failures`
states the rate of a part, a stated target is also compared with the goodput less the hours by which failures slow
steps. A failure whose nodes no spare node replaces stops the job until the repair, after `operations.repair_time` or a
day, and the job then restarts. In clouds and for rented nodes, the provider replaces single nodes. Failures do not hit
a job that is already stopped: with M of running between failures and R until it runs again, it runs M / (M + R) of the time.

## Why it matters

Lost time is paid for and trains nothing. Llama 3 405B kept more than 90 % on 16,384 accelerators, so a lower share
points to a flaw of the plan rather than to its size.

## What to do

Reduce the largest of the losses that the message names: saving (a faster storage system, asynchronous saving), repeated
steps (the interval √(2 × time between failures × pause)), restarts (spare nodes, a faster restart), detection (a
shorter watchdog).

## When to ignore it

Ignore it where the job is one of many and other jobs use the machine during a repair.

## Options

`thresholds = {low-goodput = 0.1}` in the configuration sets the lost share above which the rule reports. The number is
a share of the time. The default is 0.1. A stated target is compared as it is.

## Fires

```yaml operations.checkpoint_interval
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {tp: 8, pp: 4}
operations: {checkpoint_interval: 45 min, checkpoint_time: 120 s, mean_time_between_failures: 3 h, burn_in: 72 h}
```

```yaml operations.targets.goodput
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {tp: 8, pp: 4}
operations: {checkpoint_interval: 45 min, checkpoint_time: 30 s, mean_time_between_failures: 24 h, burn_in: 72 h, targets: {goodput: 0.99}}
```

```yaml operations.targets.goodput
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 144, spare_nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 576}
layout: {framework: megatron-core, tp: 4, pp: 2}
operations:
  restart_time: 10 min
  repair_time: 72 h
  burn_in: 72 h
  checkpoint: {interval: 20 min, pause: 5 s, write_time: 60 s, mode: asynchronous, keep: 3}
  failures: {domain: {afr: 0.6}}
  targets: {goodput: 0.95}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {tp: 8, pp: 4}
operations: {checkpoint_interval: 45 min, checkpoint_time: 30 s, mean_time_between_failures: 24 h, burn_in: 72 h}
```

## Sources

- More than 90 % effective training time, section 3.3.4: https://arxiv.org/abs/2407.21783
- The parts of the loss: Young, CACM 17(9), 1974, and Daly, FGCS 22(3), 2006: https://doi.org/10.1016/j.future.2004.11.016
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.interruptions import Interruptions, plan_interruptions
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import HOUR, YEAR
from clusterspec.rules.knowledge.shares import EXACT, cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.source import Assumed, Written
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.standard import sum_of
from clusterspec.units import percent

RULE = Rule.of(
    __name__,
    "warning",
    "likely",
    yields_to=("checkpoint-interval-off-optimum", "checkpoint-outlasts-interval", "too-few-spares"),
)
MOST = 0.10
WORTH = 0.15
"""Smallest lost share at which the finding is more than a note: Llama 3 405B kept about 90 % of the time of 16,384 accelerators."""
TARGET = "operations.targets.goodput"


def check(
    thresholds: Thresholds,
    operations: OperationsSpec,
    networks: NetworksSpec | None,
    cluster: Cluster,
    layout: Layout,
    training: Workload,
    timed: Plan,
) -> Iterator[Problem]:
    if timed.step is None:
        return
    kept = plan_interruptions(timed)
    assert kept is not None
    best = max(kept.share, kept.high, kept.low)
    target = operations.targets.goodput if operations.targets else None
    parts = _lost_parts(kept, cluster, _pause_key(operations, networks), operations)
    shares = "; ".join(f"{percent(share, 2)} {what}" for share, what, _ in parts)
    help_ = "reduce the largest part first: asynchronous saving, the best interval, or spare nodes and a faster restart"
    if target is not None and kept.share < target:
        message = f"the goodput is {percent(kept.share)}, below the target of {percent(target)}: {shares}"
        yield RULE.problem(TARGET, message, help_, severity="error" if best < target else "warning")
    elif target is not None and operations.failures is not None and (missed := _missed_year(timed, target)):
        help_ = "keep spares that replace the whole part; `clusterspec faults` lists all"
        yield RULE.problem(TARGET, missed, help_)
    elif 1 - best > thresholds.of(RULE.name, MOST):
        message = f"{percent(kept.share)} of the time is spent on steps that are kept: {shares}"
        assumed = isinstance(kept.between.origin, Assumed) and operations.failures is None
        severity = "note" if assumed or 1 - best < WORTH else cost_severity(1 - best, EXACT)
        yield RULE.problem(max(parts)[2], message, help_, severity=severity)


def _missed_year(timed: Plan, target: float) -> str:
    """Text on a year in which failures also slow steps, if its goodput misses the target; empty if it does not."""
    from clusterspec.rules.knowledge.failing_parts import FailingMachine

    machine = FailingMachine(timed.design, timed.whole_step.seconds, timed.parameters)
    slowed = [(row.slowed, row.part) for row in machine.rows(None) if row.slowed]
    hours = sum_of(hours for hours, _ in slowed)
    year = machine.goodput_of_year() - (hours * HOUR / YEAR / machine.used if machine.used else 0.0)
    if year >= target or not slowed:
        return ""
    most, part = max(slowed)
    return f"with the steps that failed parts slow down, the goodput of a year is {percent(year)}, below the target of {percent(target)}: a failed {part} costs {most:,.0f} h"


def _pause_key(operations: OperationsSpec, networks: NetworksSpec | None) -> str:
    """The key that determines the pause of a checkpoint; empty if the pause is assumed."""
    if operations.pause is not None:
        return operations.pause_key
    storage = networks.storage if networks and not operations.is_asynchronous else None
    return "cluster.networks.storage.bandwidth" if storage and storage.bandwidth else ""


def _lost_parts(
    kept: Interruptions, cluster: Cluster, saving_key: str, operations: OperationsSpec
) -> list[tuple[float, str, str]]:
    """The parts of the lost time: the share, a description, and the key that determines it."""
    saving, repeated, restarts = kept.saving_share, kept.repeated_share, kept.stopped_share
    waits = kept.mostly_waits
    restarting = (
        "cluster.spare_nodes" if waits and cluster.spare_nodes == 0 else _first_stated_key(kept, "restart", "between")
    )
    lost = [
        (saving, "saves checkpoints", saving_key or _first_stated_key(kept, "interval")),
        (repeated, "repeats steps after failures", _first_stated_key(kept, "interval", "between")),
    ]
    if operations.detection_time is not None:
        noticed = kept.stopped_share * min(1.0, operations.detection_time.value / kept.restart.value)
        lost.append((noticed, "passes before restarts", "operations.detection_time"))
        restarts = max(0.0, restarts - noticed)
        restarting = "operations.restart_time" if operations.restart_time is not None else restarting
    return [*lost, (restarts, f"waits for {'repairs and ' if waits else ''}restarts", restarting)]


def _first_stated_key(kept: Interruptions, *names: str) -> str:
    """The first of the named inputs of goodput that the spec states, as a key; else the section `operations`."""
    known = {"restart": kept.rests_on}
    origins = [each.origin for name in names for each in known.get(name) or (getattr(kept, name),)]
    return next((one.key for one in origins if isinstance(one, Written)), "operations")
