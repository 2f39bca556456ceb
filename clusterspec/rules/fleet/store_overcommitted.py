"""Jobs of one pool save checkpoints to a store that cannot take all of them.

## What it finds

Training jobs of a pool that run at the same time, each with a checkpoint time that `networks.storage.bandwidth` allows,
and which together exceed it. It is an error where the storage system cannot write in every interval the checkpoints of
all jobs; otherwise it is a warning, and the jobs have to save one after the other.

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

from clusterspec.cluster.fleet import Fleet
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shared_stores import store_demand
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


def check(fleet: Fleet) -> Iterator[Problem]:
    for pool in fleet.pools.values():
        demand = store_demand(fleet, pool)
        if demand is None or any(each.burst > demand.bandwidth for each in demand.sets):
            continue
        if demand.burst > demand.bandwidth:
            over = demand.mean > demand.bandwidth
            when = "on average" if over else "where they save at the same time"
            needed = display(demand.mean if over else demand.burst, "B/s")
            message = f"{len(demand.sets)} jobs of pool `{pool.name}` write {needed} of checkpoints {when}, and the store takes {demand.written}"
            later = "" if over else ", or save asynchronously"
            help_ = f"use a faster storage system{', or' if over else ','} save less often{later}"
            at = ("pools", pool.name, "networks", "storage", "bandwidth")
            yield RULE.problem(at, message, help_, severity="error" if over else "warning")
