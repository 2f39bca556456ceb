"""A tier of the cache is larger than the memory of the hosts.

## What it finds

A tier of `medium: host` with more bytes for each node than `cluster.host_memory` has. The finding is an error.

## Why it matters

The cache is allocated and pinned when an engine starts, so that the engine does not start. The operating system, the
engine and the weights that it loads also need memory.

## What to do

Lower `capacity`, or state the memory of the nodes that are bought.

## When to ignore it

Do not ignore it: correct the figure that is wrong.

## Fires

```yaml workload.serving.cache_tiers[0].capacity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1, host_memory: 1 TB}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 8
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: host, capacity: 1.5 TB, read: 50 GB/s}]
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1, host_memory: 2 TB}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 8
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: host, capacity: 1.5 TB, read: 50 GB/s}]
layout: {tp: 8}
```

## Sources

- The pool of host memory is allocated in advance: https://docs.vllm.ai/projects/ascend/en/latest/user_guide/feature_guide/kv_cache_cpu_offload/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import TIERS, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error", "certain")


def check(served: Served) -> Iterator[Problem]:
    memory = served.cluster.host_memory
    if memory is None:
        return
    engines = served.cluster.ranks_per_node / served.layout.replica_ranks
    for number, tier in enumerate(served.load.tiers):
        if tier.medium != "host" or tier.scope == "plan":
            continue
        here = tier.capacity * (max(1.0, engines) if tier.scope == "engine" else 1.0)
        if here <= memory.value:
            continue
        each = f" for each of {plain(engines)} engines" if tier.scope == "engine" and engines > 1 else ""
        yield RULE.problem(
            (*TIERS, number, "capacity"),
            f"the cache takes {display(tier.capacity, 'B')}{each} of a host that has {display(memory.value, 'B')}",
            "lower `capacity`, or correct `host_memory`",
        )
