"""The storage system is many times faster than checkpoints need.

## What it finds

A `networks.storage.bandwidth` more than ten times the rate that writes a checkpoint within 5 % of the checkpoint
interval.

## Why it matters

Even models of a trillion parameters need only a few hundred GB/s. A smaller storage system leaves budget for nodes.

## What to do

Use a smaller storage system, or state in a comment what else it serves.

## When to ignore it

Ignore it where the data itself (video, simulation) needs the rate, or other machines share the storage system.

## Fires

```yaml cluster.networks.storage.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 1 TB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
```

## Sources

- What checkpoints need: https://glennklockwood.com/garden/storage-for-llm-training
- The same, measured: https://sc25.conference-program.com/presentation/?id=ws_pdswwip108&sess=sess202
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import saved_bytes
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "note", "heuristic")
SHARE = 0.05
MOST = 10


def check(networks: NetworksSpec, operations: OperationsSpec, training: Workload, model: Model) -> Iterator[Problem]:
    store, interval = networks.storage.bandwidth if networks.storage else None, operations.interval
    size = saved_bytes(model, training)
    if store is None or interval is None or interval.value <= 0 or size is None:
        return
    needed = size / (SHARE * interval.value)
    if store.per_direction > MOST * needed:
        ratio = store.per_direction / needed
        message = f"{store.written} is {plain(ratio, 2)} times the {display(needed, 'B/s')} that checkpoints every {interval.written} need"
        yield RULE.problem(
            "cluster.networks.storage.bandwidth",
            message,
            "use a smaller storage system, unless other traffic needs the rate",
        )
