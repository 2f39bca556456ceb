"""The storage system holds only a few checkpoints.

## What it finds

80 % of `networks.storage.capacity` is less than ten checkpoints of 14 bytes per parameter.

## Why it matters

Parallel file systems slow down above 80 % of their capacity. Runs keep several checkpoints, besides data and logs.

## What to do

Use more capacity, or a cheaper tier for old checkpoints.

## When to ignore it

Ignore it where old checkpoints move to object storage at once.

## Fires

```yaml cluster.networks.storage.capacity
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 5 TB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 50 TB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
```

## Sources

- How full a file system may get: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/storage/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.cost.formulas.parameters import checkpoint_bytes
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "note", "heuristic")
KEPT = 10
USABLE = 0.8


def check(networks: NetworksSpec, training: Workload, model: Model) -> Iterator[Problem]:
    capacity = networks.storage.capacity if networks.storage else None
    if capacity is None:
        return
    size = checkpoint_bytes(model_weights(model).total)
    if capacity.value * USABLE < KEPT * size:
        held = capacity.value * USABLE / size
        message = (
            f"{capacity.written} hold {plain(held, 2)} checkpoints of {display(size, 'B')} at 80 % of the capacity"
        )
        yield RULE.problem(
            "cluster.networks.storage.capacity", message, f"plan {display(KEPT * size / USABLE, 'B')}, which hold ten"
        )
