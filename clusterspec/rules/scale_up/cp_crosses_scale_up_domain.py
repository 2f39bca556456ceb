"""Context-parallel groups lie in several scale-up domains.

## What it finds

cp above 1, and a context group, enumerated from `layout.order`, with members in two domains.

## Why it matters

Keys and values travel around the ring once a layer in each pass, over NICs now. They hide behind attention only where each rank
has long enough a piece: attention grows with the square of the piece, the traffic with its length.

## What to do

cp inside the domain (tp × cp at most its ranks), or hierarchical context parallelism.

## When to ignore it

For sequences of 64k tokens a rank and more it usually hides; it is a note.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 8, cp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 4, cp: 2}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L395
- Ring attention: https://arxiv.org/abs/2310.01889
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.domains import tiers
from clusterspec.rules.knowledge.ranks import straddlers
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note")


def check(facts: Facts, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    placement = facts.placement("cp") if layout.cp > 1 else None
    if placement is not None and placement.straddling:
        help_ = f"tp × cp of at most {cluster.ranks_per_domain}, or hierarchical context parallelism"
        yield RULE.problem("layout.cp", f"{straddlers(placement)}, {tiers(cluster, placement)}", help_)
