"""The shard group of hsdp does not divide the data-parallel ranks.

## What it finds

`sharding: hsdp` with a `shard_group` that does not divide dp × cp.

## Why it matters

The ranks form a mesh of replicas × shards. With 32 data-parallel ranks, a shard group of 12 leaves 8 ranks without a
group.

## What to do

Use a shard group that divides dp × cp: usually the ranks of a domain over tp.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.shard_group
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {sharding: hsdp, shard_group: 12}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {sharding: hsdp, shard_group: 8}
```

## Sources

- DeepSpeed's secondary partition: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/utils/groups.py#L879
- ZeRO++: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/docs/_tutorials/zeropp.md#L28
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.legality import cuts_shard_group
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error")


def check(legality: Legality, written_layout: LayoutSpec, layout: Layout) -> Iterator[Problem]:
    group, ranks = written_layout.shard_group, layout.dp * layout.cp
    if group is None or not cuts_shard_group(layout, group) or not legality.has_integer_dp:
        return
    divisors = [size for size in range(1, min(ranks, 4096) + 1) if ranks % size == 0]
    near = sorted(divisors, key=lambda size: (abs(size - group), -size))[:2]
    message = f"a shard group of {group} does not divide dp {layout.dp} × cp {layout.cp} = {ranks} ranks"
    yield RULE.problem("layout.shard_group", message, "write " + or_list(sorted(near)))
