"""The storage system holds only a few checkpoints.

## What it finds

The number of checkpoints in `operations.checkpoint.keep`, of 14 bytes per parameter each, takes more than 80 % of
`networks.storage.capacity`: an error where they exceed the whole capacity, else a warning. Without `keep`, space for
fewer than ten checkpoints is a note, for fewer than two a warning, and for less than one an error.

## Why it matters

Parallel file systems slow down above 80 % of their capacity. Runs keep several checkpoints in addition to data and logs.

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

```yaml operations.checkpoint.keep
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 50 TB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint: {interval: 30 min, keep: 100}, burn_in: 72 h}
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
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.checkpoints import saved_bytes
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display, percent, plain, plural, rounded_up

RULE = Rule.of(__name__, "note", "heuristic")
KEPT = 10
USABLE = 0.8
SAFE = 2.0
"""Minimum number of checkpoints in storage: the last complete one remains while the next is written."""


def check(
    networks: NetworksSpec, training: Workload, model: Model, operations: OperationsSpec | None
) -> Iterator[Problem]:
    capacity, size = networks.storage.capacity if networks.storage else None, saved_bytes(model, training)
    if capacity is None or size is None:
        return
    saving = operations.checkpoint if operations else None
    if saving is not None and saving.keep is not None:
        if capacity.value * USABLE < saving.keep * size:
            yield _kept_checkpoints_problem(saving.keep, size, capacity)
        return
    if capacity.value * USABLE < KEPT * size:
        held = capacity.value * USABLE / size
        message = (
            f"{capacity.written} hold {plain(held, 2)} checkpoints of {display(size, 'B')} at 80 % of the capacity"
        )
        yield RULE.problem(
            "cluster.networks.storage.capacity",
            message,
            f"plan {display(rounded_up(KEPT * size / USABLE), 'B')}, which hold ten",
            severity="error" if held < 1 else "warning" if held < SAFE else "note",
        )


def _kept_checkpoints_problem(keep: int, size: float, capacity: Quantity) -> Problem:
    needed = keep * size
    message = f"{plural(keep, 'checkpoint')} of {display(size, 'B')} {'is' if keep == 1 else 'are'} {display(needed, 'B')}, {percent(needed / capacity.value, 2)} of the {capacity.written}"
    most = int(capacity.value * USABLE / size)
    fewer = f"keep {most:,}, which {'fills' if most == 1 else 'fill'} 80 %, or " if most else ""
    help_ = f"{fewer}plan {display(rounded_up(needed / USABLE), 'B')}"
    severity = "error" if needed > capacity.value else "warning"
    return RULE.problem("operations.checkpoint.keep", message, help_, severity=severity, confidence="likely")
