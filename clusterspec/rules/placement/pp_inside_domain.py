"""Pipeline stages share a scale-up domain while data parallelism crosses domains.

## What it finds

pp above 1 without tp or cp, with an order that places neighboring stages in one domain, and data-parallel groups that
leave it.

## Why it matters

A stage sends one activation for each micro-batch, which a NIC carries easily. Gradients are many times larger, and in
this order run over NICs while the scale-up interconnect is idle.

## What to do

Put pp last in the order: stages across nodes, replicas inside.

## When to ignore it

Ignore it where the batch leaves so few micro-batches that the latency between stages matters.

## Fires

```yaml layout.order
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, order: [pp, tp, cp, ep, dp]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, order: [tp, cp, ep, dp, pp]}
```

## Sources

- Which axis on which tier: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/model-parallelism/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note", "heuristic")


def check(placements: Placements, layout: Layout) -> Iterator[Problem]:
    if layout.pp == 1 or layout.tp > 1 or layout.cp > 1 or layout.dp == 1:
        return
    stages, replicas = placements.of("pp"), placements.of("dp")
    if stages and replicas and stages.straddling == 0 and replicas.straddling:
        message = (
            f"all {layout.pp} stages of a pipeline share a domain, while gradients, which are many times larger than the "
            f"activations between stages, cross {replicas.domains} domains"
        )
        yield RULE.problem("layout.order", message, "write `order: [tp, cp, ep, dp, pp]`")
