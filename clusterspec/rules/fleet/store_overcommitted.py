"""Jobs of one pool save checkpoints to a store that cannot take all of them.

## What it finds

Training jobs of a pool that run at the same time, each with a checkpoint time that `networks.storage.bandwidth` allows,
and which together exceed it. It is an error where the store cannot write in every interval what the jobs save in it,
else a warning: the jobs have to save one after the other.

## Why it matters

Two jobs that save at the same moment take twice the time, and the goodput of both is lower than estimated.

## What to do

Use a faster storage system, save less often, or save asynchronously.

## When to ignore it

Ignore it where a scheduler keeps the jobs from saving at the same time.

## Fires

```yaml pools.train.networks.storage.bandwidth
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 16
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 40 GB/s}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

## Silent

```yaml
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 16
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 80 GB/s}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Job, Pool
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import saved_bytes, serves
from clusterspec.rules.rule import Rule
from clusterspec.summation import sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        networks = pool.spec.networks
        store = networks.storage.bandwidth if networks and networks.storage else None
        rates = [rate for each in _rates(fleet, pool) if (rate := max(each, default=None)) is not None]
        if store is None or len(rates) < 2 or any(burst > store.per_direction for burst, _ in rates):
            continue
        at_once, on_average = (sum_of(each) for each in zip(*rates, strict=True))
        if at_once > store.per_direction:
            over = on_average > store.per_direction
            when = "on average" if over else "where they save at the same time"
            needed = display(on_average if over else at_once, "B/s")
            message = f"{len(rates)} jobs of pool `{pool.name}` write {needed} of checkpoints {when}, and the store takes {store.written}"
            help_ = "use a faster storage system, save less often, or save asynchronously"
            at = ("pools", pool.name, "networks", "storage", "bandwidth")
            yield RULE.problem(at, message, help_, severity="error" if over else "warning")


def _rates(fleet: Fleet, pool: Pool) -> Iterator[list[tuple[float, float]]]:
    """Bytes per second while a job saves, and on average, of the jobs of each node set, which run in turn."""
    for each in pool.sets:
        yield [rate for name in each.jobs if (rate := _job_rates(fleet.jobs[name])) is not None]


def _job_rates(job: Job) -> tuple[float, float] | None:
    """Bytes per second while a job saves a checkpoint, and on average; None where it saves none or says no time."""
    design = job.design
    operations = design.spec.operations if design else None
    if design is None or operations is None or design.workload is None or serves(design.workload):
        return None
    interval = operations.interval.value if operations.interval else 0.0
    saving = operations.checkpoint.write_time if operations.checkpoint else None
    written = saving or (None if operations.asynchronous else operations.pause)
    seconds = min(interval, written.value) if written is not None else interval
    size = saved_bytes(design.workload.model, design.workload)
    return (size / seconds, size / interval) if seconds > 0 and size is not None else None
