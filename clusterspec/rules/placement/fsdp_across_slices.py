"""Weights are sharded over several TPU slices.

## What it finds

`topology: torus`, several slices, and `sharding: fsdp` with groups that span slices.

## Why it matters

Inside a slice a v5p chip has 600 GB/s per direction, between slices some 6 GB/s of data-center network. Gathering
weights across slices, twice for each micro-batch, takes about a hundred times as long.

## What to do

Use hsdp: shard inside the slice, replicate between slices.

## When to ignore it

Ignore it where one slice cannot hold the states.

## Fires

```yaml layout.sharding
clusterspec: 1
cluster: {accelerator: tpu-v5p, accelerators_per_node: 4, nodes: 32, scale_up: {domain: 64}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {framework: maxtext, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: tpu-v5p, accelerators_per_node: 4, nodes: 32, scale_up: {domain: 64}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {framework: maxtext, sharding: hsdp, shard_group: 64}
```

## Sources

- Both networks of v5p: https://docs.cloud.google.com/tpu/docs/v5p
- Axes of MaxText over slices: https://github.com/AI-Hypercomputer/maxtext/blob/e591f30cbbf217ed67ef71263ec0538239f9c3b8/src/maxtext/configs/types.py#L4166
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning")


def check(placements: Placements, training: Workload, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    if cluster.scale_up.topology != "torus" or layout.sharding != "fsdp":
        return
    placement = placements.of("shard")
    if placement is None or placement.domains < 2:
        return
    group = gcd(cluster.ranks_per_domain // layout.tp, layout.dp * layout.cp)
    share = cluster.nic_bandwidth_per_accelerator
    beyond = f"{display(share, 'B/s')} per accelerator" if share else "a network that is not described"
    message = (
        f"fsdp gathers weights over {placement.domains} slices: {beyond} between them, "
        f"{display(cluster.scale_up.bandwidth.value, 'B/s')} inside"
    )
    written = f"`sharding: hsdp, shard_group: {group}`" if group > 1 else "`sharding: hsdp`, and groups inside a slice"
    yield RULE.problem("layout.sharding", message, f"write {written}, where a slice holds the states")
