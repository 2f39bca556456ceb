"""A tier of the cache is read faster than the links to it carry.

## What it finds

A tier of `medium: host` or `nvme` whose `read` exceeds what the accelerators that share it receive from the host: an
x16 slot for each of them, of the generation of the slots (`pcie.host`) or of the part, or the host link of the part.
The rule is silent for parts that hold their processor, for rack-scale machines, and for tiers of the whole plan. A tier
of `medium: remote` is compared with the ports of the storage network: those of all nodes for `scope: plan`, else of
one.

## Why it matters

Often the rate of a link in Gb/s was written in GB/s, or the bandwidth of the memory itself. Times to first token are
then predicted from caches that arrive eight times too fast.

## What to do

Write the bandwidth that an engine measures between host and accelerator.

## When to ignore it

Ignore it where the processor has a faster link to the accelerator, which the catalog does not state.

## Fires

```yaml workload.serving.cache_tiers[0].read
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 2 TB}
workload:
  kind: serve
  model: llama-3.1-8b
  serving:
    input_tokens: 12000
    output_tokens: 400
    request_rate: 24
    session: {turns: 10, think_time: 40 s, growth: 1500, shared_prefix: 1000}
    cache_tiers: [{medium: host, capacity: 200 GB, read: 400 GB/s, scope: engine}]
layout: {framework: vllm, tp: 1}
```

```yaml workload.serving.cache_tiers[0].read
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  networks: {storage: {nics_per_node: 1, nic_bandwidth: 100 Gb/s}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 4
    session: {turns: 8, think_time: 60 s, growth: 800, shared_prefix: 1500}
    cache_tiers: [{medium: remote, capacity: 200 TB, read: 200 GB/s, scope: plan}]
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2, host_memory: 2 TB}
workload:
  kind: serve
  model: llama-3.1-8b
  serving:
    input_tokens: 12000
    output_tokens: 400
    request_rate: 24
    session: {turns: 10, think_time: 40 s, growth: 1500, shared_prefix: 1000}
    cache_tiers: [{medium: host, capacity: 200 GB, read: 400 Gb/s, scope: engine}]
layout: {framework: vllm, tp: 1}
```

## Sources

- Transfers and encoding of PCIe: https://en.wikipedia.org/wiki/PCI_Express#Comparison_table
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cluster.requests import CacheTier
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.cost.nameplates import has_processors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.02
"""Relative tolerance for a rounded rate."""
FIRST_GENERATION = 3
"""Oldest PCIe generation for which the formula has a rate."""


def check(served: Served, networks: NetworksSpec | None) -> Iterator[Problem]:
    link = _host_link(served.cluster)
    for number, tier in enumerate(served.load.tiers):
        if tier.medium == "remote":
            yield from _remote_problem(served, networks, number, tier)
        if link is None or tier.medium not in {"host", "nvme"} or tier.scope == "plan":
            continue
        ranks = served.layout.replica_ranks if tier.scope == "engine" else served.cluster.ranks_per_node
        accelerators = -(-ranks // served.cluster.ranks_per_accelerator)
        if tier.read <= link * accelerators * (1 + ROUNDED):
            continue
        scope = "an engine" if tier.scope == "engine" else "a node"
        yield RULE.problem(
            (*TIERS, number, "read"),
            f"a tier of {scope} is read at {display(tier.read, 'B/s')}, but its {plural(accelerators, 'accelerator')} "
            f"{'receives' if accelerators == 1 else 'receive'} at most {display(link * accelerators, 'B/s')} from the host",
            "write the bandwidth between host and accelerator, in bytes",
        )


def _remote_problem(served: Served, networks: NetworksSpec | None, number: int, tier: CacheTier) -> Iterator[Problem]:
    """The problem of a tier behind the storage network that is read faster than the storage ports of its nodes."""
    storage = networks.storage if networks is not None else None
    port = storage.nic_bandwidth if storage is not None else None
    if storage is None or port is None or storage.shares is not None:
        return
    nodes = served.cluster.nodes if tier.scope == "plan" else 1
    carried = nodes * (storage.nics_per_node or 1) * port.per_direction
    if tier.read > carried * (1 + ROUNDED):
        of = plural(nodes, "node") if nodes > 1 else "a node"
        yield RULE.problem(
            (*TIERS, number, "read"),
            f"the remote tier is read at {display(tier.read, 'B/s')}, but the storage ports of {of} carry {display(carried, 'B/s')}",
            "write the rate that the nodes reach, or plan faster storage ports",
        )


def _host_link(cluster: Cluster) -> float | None:
    """The rate in B/s from the host to one accelerator; None for links other than PCIe with an unknown rate."""
    part, platform = cluster.accelerator, cluster.platform
    if part.host_link is not None:
        return part.host_link.value
    generation = cluster.pcie_host
    if has_processors(cluster) or (platform is not None and platform.form == "rack"):
        return None
    return slot_rate(generation) if generation is not None and generation >= FIRST_GENERATION else None
