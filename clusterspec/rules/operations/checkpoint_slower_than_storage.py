"""The stated checkpoint time is much longer than the storage system needs.

## What it finds

A pause of training more than three times as long as the time in which the storage system writes 14 bytes × parameters
(weights in bf16, and weights and two moments in fp32). It is a note where the rest of the pause is 2 % of the checkpoint
interval or more, a warning from 5 % on. The storage system writes at its `bandwidth`, or at the rate that the clients of
the job reach together (`per_client`, their NICs, `slots`). A pause of asynchronous checkpoints is not compared: it does
not wait for the storage system.

## Why it matters

The stated time counts in goodput, run time and cost, whatever the storage system is. 60 s every 30 min are 3.3 % of the
time; at 400 GB/s the 988 GB of a 70B model take 2.5 s. A faster storage system then saves nothing, and `solve` finds no
bandwidth that does.

## What to do

Find out how the time is spent: gathering on one rank, serializing, creating files. Save asynchronously, or leave the
key out where the figure is old: the time is then predicted.

## When to ignore it

Ignore it where the time was measured on this storage system and the framework cannot save faster.

## Fires

```yaml operations.checkpoint_time
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 200 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 60 s}
```

```yaml operations.checkpoint.write_time
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 200 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint: {interval: 30 min, write_time: 3 min}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 60 s}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 200 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 3 h, checkpoint_time: 60 s}
```

## Sources

- Checkpoints and stores: https://glennklockwood.com/garden/storage-for-llm-training
- A pause of 149 s for a 7B model, 6.3 s where it is saved asynchronously: https://pytorch.org/blog/reducing-checkpointing-times/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import stored_checkpoint_time
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "note", "heuristic")
LONGER = 3.0
"""Multiple of the storage system's time that file creation, serialization and uneven ranks can explain."""
LEAST, MUCH = 0.02, 0.05
"""Shares of the time that the unexplained part of the pause costs: below `LEAST` nothing is reported, from `MUCH` on it
is a warning.
"""


def check(
    operations: OperationsSpec, networks: NetworksSpec, model: Model, training: Workload, layout: Layout | None
) -> Iterator[Problem]:
    pause, interval = operations.pause, operations.interval
    if pause is None or interval is None or interval.value <= 0 or operations.is_asynchronous:
        return
    needed = stored_checkpoint_time(networks, model, training, layout)
    if needed is None or pause.value <= LONGER * needed.seconds:
        return
    lost = (pause.value - needed.seconds) / interval.value
    if lost < LEAST:
        return
    yield RULE.problem(
        operations.pause_key,
        f"training stops for {pause.written} at each checkpoint, {plain(pause.value / needed.seconds, 2)} times the "
        f"{display(needed.seconds, 's')} that {display(needed.size, 'B')} take at {needed.store}; the rest is "
        f"{percent(min(lost, 1.0), 2)} of the time",
        "find what the rest of the time is spent on, save asynchronously (`checkpoint: {mode: asynchronous}`), or leave "
        f"`{operations.pause_key.rpartition('.')[2]}` out: the time is then predicted",
        severity="warning" if lost >= MUCH else "",
    )
