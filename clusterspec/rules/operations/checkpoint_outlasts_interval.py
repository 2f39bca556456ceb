"""Saving a checkpoint takes most of the checkpoint interval, or all of it.

## What it finds

Training stops for more than a tenth of the checkpoint interval: a warning, and an error from a quarter of it on.
Without a stated time, the rule computes it from the storage system and 14 bytes per parameter, and reports an error
only where it exceeds the whole interval, since saving may be asynchronous. An asynchronous checkpoint that is not
written before the next one starts is an error.

## Why it matters

The run spends its time saving instead of training. 405B parameters are 5.7 TB of checkpoint: 47 min at 2 GB/s.

## What to do

Use a longer interval, a faster storage system, or asynchronous checkpoints. With asynchronous checkpoints, state
`checkpoint: {mode: asynchronous}` and as `pause` how long training stops.

## When to ignore it

Do not ignore it. If saving is asynchronous and the storage system is fast enough, state `checkpoint_time`.

## Fires

```yaml operations.checkpoint_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 10 min, checkpoint_time: 600 s}
```

```yaml operations.checkpoint.write_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint: {interval: 10 min, pause: 5 s, write_time: 15 min, mode: asynchronous}, burn_in: 72 h}
```

```yaml cluster.networks.storage.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  networks: {storage: {bandwidth: 2 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {checkpoint_interval: 20 min, checkpoint_time: 60 s}
```

## Sources

- Storage for training: https://glennklockwood.com/garden/storage-for-llm-training
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import asynchronous_checkpoint_time, checkpoint_time
from clusterspec.rules.knowledge.shares import EXACT, cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "error")
MOST = 0.10
"""Share of the interval for saving, above which the rule warns."""
HELP = "use a longer interval, a faster storage system, or save asynchronously: `mode: asynchronous` with the shorter `pause`"
SHORT_PAUSE = "use a longer interval, or state as `pause` how long training stops, without the time to write"


def check(
    operations: OperationsSpec,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    interval = operations.interval
    if interval is None or interval.value <= 0:
        return
    written = asynchronous_checkpoint_time(operations, networks, model, workload, layout)
    if written is not None and written.seconds >= interval.value:
        key = "cluster.networks.storage.bandwidth" if written.store else "operations.checkpoint.write_time"
        message = f"a checkpoint is complete after {display(written.seconds, 's')}, but the next one starts every {interval.written}"
        yield RULE.problem(key, message, "use a longer interval, or a faster storage system")
    saving = checkpoint_time(operations, networks, model, workload, layout)
    if saving is None:
        return
    part = saving.seconds / interval.value
    if not saving.store:
        if part > MOST:
            message = f"training stops for {display(saving.seconds, 's')} every {interval.written}, {percent(min(part, 1.0), 2)} of the time"
            help_ = SHORT_PAUSE if operations.is_asynchronous else HELP
            yield RULE.problem(operations.pause_key, message, help_, severity=cost_severity(part, EXACT))
    elif part > MOST:
        message = (
            f"{display(saving.size, 'B')} of checkpoint at {saving.store} take {display(saving.seconds, 's')}, {percent(part, 2)} of the "
            f"interval of {interval.written}"
        )
        severity = "error" if part >= 1 else "warning"
        yield RULE.problem("cluster.networks.storage.bandwidth", message, HELP, severity=severity)
