"""Some tensor-parallel groups span two scale-up domains.

## What it finds

A tp that fits into a domain, where the order of ranks, or a domain size that tp does not divide, places members of a
group in two domains. The rule enumerates the groups from `layout.order`. The finding is an error where a layout within
domains is predicted to save a quarter of the step, even at the low end of the predicted range, or where the time is not
known; a warning where it saves more than the half-width of that range; else a note.

## Why it matters

The groups that span two domains communicate over NICs, and all others wait for them: one such group slows down the
whole job.

## What to do

Use a tp that divides the domain; put tp first in the order; or use 64 of the 72 accelerators of a rack
(`nodes_per_domain: 16`).

## When to ignore it

Do not ignore it. If the launcher does not place ranks block by block, state its `order`.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 288}
layout: {tp: 16, pp: 3, stage_layers: [26, 28, 26]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 16, pp: 2, nodes_per_domain: 16}
```

## Sources

- Aligning with the domain: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
- How Megatron orders ranks: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/parallel_state.py#L617
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.domain_layouts import fastest_within_domain
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.domains import bandwidth_across, exceeds_domain, straddling_groups, used_domain
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(
    deviations: Deviations, placements: Placements, cluster: Cluster, layout: Layout, what_if: WhatIf
) -> Iterator[Problem]:
    if layout.tp == 1 or cluster.scale_up.topology == "pcie" or exceeds_domain(cluster, layout):
        return
    placement = placements.of("tp")
    if placement is None or placement.straddling == 0:
        return
    best = fastest_within_domain(what_if, cluster, layout)
    loss = what_if.saved_share(best) if best else None
    domain = used_domain(cluster, layout)
    help_ = f"write `{best.words}`" if best else f"use a tp that divides {domain}, first in the order"
    if domain % layout.tp and cluster.scale_up.domain > cluster.accelerators_per_node and not layout.nodes_per_domain:
        whole = domain // layout.tp * layout.tp // cluster.ranks_per_node
        help_ += f"; or use {whole} nodes of each domain (`nodes_per_domain: {whole}`)" if whole else ""
    yield RULE.problem(
        "layout.tp" if domain % layout.tp else "layout.order",
        f"{straddling_groups(placement)}{bandwidth_across(deviations, cluster, placement, 'all-reduce')}"
        f"{what_if.comparison(best)}",
        help_,
        severity=what_if.severity(loss),
    )
