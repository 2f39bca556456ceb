"""The run takes longer than the spec demands.

## What it finds

A run of `workload.tokens` that takes longer than `operations.targets.run_time`, interruptions included. It is an error
where the run misses the target even at the dense peak of its accelerators, by a third even at the fast end of the
predicted range, or at the fast end of the range of a step that was measured (`measured`); a warning where the fast end misses it; else a note. Without a stated failure rate the rule uses the
lowest published one.

It is a warning where the prediction meets the target, but the run takes a quarter longer at `workload.expected_mfu`.

It is an error where the target is longer than a slot of the machine in the text that cannot be extended.

Where the spec has no target, the time that the description says the run takes counts as one; only errors are reported, as it
may be a measured time.

It is also an error if the storage system cannot deliver the data in time, however fast the steps are: opening the files
of the run's tokens (`workload.dataset_files`) at its `metadata_rate`, or reading their bytes
(`workload.dataset_token_bytes`) at its rate, takes longer than the target.

## Why it matters

The delivery of a model, the end of a lease and the start of the next job depend on this date. A run that is late by a
third costs a third more accelerator hours.

## What to do

Train fewer tokens, take more nodes (`clusterspec solve SPEC --for nodes --until "run_time<=20d"` finds how many), or a
faster layout (`clusterspec search`).

## When to ignore it

Ignore it where a measured step time shows that the machine is faster; state it under `measured`.

## Fires

```yaml operations.targets.run_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {framework: megatron-core, tp: 1, recompute: full}
operations: {burn_in: 72 h, targets: {run_time: 20 days}}
```

```yaml operations.targets.run_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {framework: megatron-core, tp: 1, recompute: full}
operations: {burn_in: 72 h, targets: {run_time: 80 days}}
```

```yaml operations.targets.run_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, networks: {storage: {bandwidth: 100 GB/s, metadata_rate: 5000}}}
workload: {model: llama-3.2-1b, sequence_length: 8192, global_batch: 512, tokens: 900B, dataset_tokens: 900B, dataset_files: 3B}
layout: {framework: megatron-core, tp: 1}
operations: {targets: {run_time: 5 days}}
```

```yaml description
clusterspec: 1
description: The pretraining run takes three weeks, and the evaluation two days.
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {framework: megatron-core, tp: 1, recompute: full}
```

```yaml operations.targets.run_time
clusterspec: 1
description: The allocation gives us the machine for 14 days and cannot be extended.
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 1T}
layout: {framework: megatron-core, tp: 1, recompute: full}
operations: {burn_in: 72 h, targets: {run_time: 25 days}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {framework: megatron-core, tp: 1, recompute: full}
operations: {burn_in: 72 h, targets: {run_time: 130 days}}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, networks: {storage: {bandwidth: 100 GB/s, metadata_rate: 5000}}}
workload: {model: llama-3.2-1b, sequence_length: 8192, global_batch: 512, tokens: 900B, dataset_tokens: 900B, dataset_files: 2B}
layout: {framework: megatron-core, tp: 1}
operations: {targets: {run_time: 5 days}}
```

```yaml
clusterspec: 1
description: The run takes about seventeen weeks; the restart after a failure takes two days.
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {framework: megatron-core, tp: 1, recompute: full}
```

## Sources

- Arithmetic: tokens over predicted tokens per second, over the goodput.
- Goodput: Young, CACM 17(9), 1974, and Daly, FGCS 22(3), 2006: https://doi.org/10.1016/j.future.2004.11.016
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import data_reads, stored_token_rate
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.shares import run_severity
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.plans.run_times import run_time_of_text
from clusterspec.rules.rule import Rule
from clusterspec.source import Written
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
AT = "operations.targets.run_time"


def check(
    operations: OperationsSpec | None,
    networks: NetworksSpec | None,
    cluster: Cluster,
    layout: Layout,
    timed: Plan,
    own_remarks: str | None,
) -> Iterator[Problem]:
    stated = operations.targets.run_time if operations is not None and operations.targets else None
    if timed.step is None or timed.time_to_train is None or timed.step_time_range is None:
        return
    if stated is not None and own_remarks:
        yield from _slot_problem(stated, own_remarks)
    tokens = timed.design.workload.tokens if timed.design.workload is not None else None
    described = run_time_of_text(own_remarks, tokens) if stated is None and timed.rl is None and own_remarks else None
    target = stated.value if stated is not None else described.value if described is not None else None
    if target is None:
        return
    if stated is not None:
        yield from _slow_deliveries_problem(timed, target)
    kept = plan_interruptions(timed)
    if kept is None or kept.share <= 0:
        return
    seconds = timed.time_to_train / kept.share
    if seconds <= target:
        yield from _expected_rate_problem(timed, seconds, stated)
        return
    severity = run_severity(target, seconds, timed)
    if described is not None:
        if severity == "error":  # the text may give a measured time, which predictions miss by less
            message = f"the run takes {display(seconds, 's')} with interruptions, and not {described.words}"
            yield RULE.problem(
                "description", message, "plan with the predicted time (`clusterspec estimate`)", severity=severity
            )
        return
    message = f"the run takes {display(seconds, 's')} with interruptions, but its target is {display(target, 's')}"
    if timed.mfu and timed.time_to_train * timed.mfu > target:
        severity = "error"
        message += f": even at the dense peak it takes {display(timed.time_to_train * timed.mfu, 's')}"
    wanted = f"`clusterspec solve` finds how many, with `--for nodes --until 'run_time<={display(target, 's')}'`"
    yield RULE.problem(AT, message, f"train fewer tokens, or take more nodes: {wanted}", severity=severity)


def _expected_rate_problem(timed: Plan, seconds: float, target: Quantity | None) -> Iterator[Problem]:
    """The problem of a run that meets its target by the prediction of ``seconds``, but not at the MFU of the spec."""
    expected = timed.design.spec.workload.expected_mfu if timed.design.spec.workload else None
    if target is None or not expected or not timed.mfu:
        return
    own = seconds * timed.mfu / expected
    if own > target.value * CLEARLY_LATER:
        message = f"at the expected MFU of {percent(expected)} the run takes {display(own, 's')}, but its target is {target.written}"
        help_ = f"plan with the predicted MFU of {percent(timed.mfu, 2)}, train fewer tokens, or take more nodes"
        yield RULE.problem(AT, message, help_)


CLEARLY_LATER = 1.25
"""Ratio of two times above which neither interruptions nor attention explain it: not every MFU counts attention."""
SAME_TIME = 1.02
"""Ratio of a target to the time of a slot up to which both are the same."""


def _slot_problem(target: Quantity, remarks: str) -> Iterator[Problem]:
    """The problem of a target beyond the time for which the machine is lent, according to the description or a comment."""
    from clusterspec.rules.readers.plans.limits import time_of_slot  # few machines are lent

    slot = time_of_slot(remarks[:MOST_CHARACTERS])
    if slot is not None and target.value > SAME_TIME * slot.value:
        message = f"the run may take {target.written}, but according to the text the machine is lent for {slot.words}"
        yield RULE.problem(
            AT, message, "state the time of the slot, and train fewer tokens if needed", severity="error"
        )


def _slow_deliveries_problem(timed: Plan, target: float) -> Iterator[Problem]:
    """The problem of read rates at which the data of the run are delivered in more than ``target`` seconds."""
    work, store = timed.design.workload, "the storage system"
    tokens = work.tokens if work is not None else None
    opened, read = stored_token_rate(timed.design), data_reads(timed)
    if tokens and opened is not None and tokens / opened > target:
        message = (
            f"{store} opens the files of the run's tokens at its `metadata_rate` in {display(tokens / opened, 's')}, "
            f"but the target of the run is {display(target, 's')}"
        )
        yield RULE.problem(AT, message, "put many samples into one file", severity="error")
    if tokens and read is not None and isinstance(read.width.origin, Written):
        seconds = tokens * read.width.value / read.batch.rate.value
        if seconds > target:
            message = (
                f"{store} reads the {display(tokens * read.width.value, 'B')} of the run in {display(seconds, 's')}, "
                f"but the target of the run is {display(target, 's')}"
            )
            yield RULE.problem(AT, message, "plan a storage system that is read faster", severity="error")
