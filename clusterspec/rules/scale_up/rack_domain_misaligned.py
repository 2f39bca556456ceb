"""The inner axes of the layout do not divide a rack-scale domain.

## What it finds

A job of more than one domain of several nodes, where tp divides the domain but the product of the innermost axes, taken
in rank order while it fits into the domain, does not. The finding is a warning where the axis whose groups span two
domains exposes communication for more of the step than the half-width of the range of that difference, or where the
time is not known; else a note.

## Why it matters

On 72 accelerators, tp 8 × cp 2 = 16 fits four and a half times. The fifth pair of groups spans two racks and exchanges
keys and values over NICs, and every other group waits for it.

## What to do

Use 64 of the 72 accelerators (`nodes_per_domain: 16`), or products that divide 72: 8, 9, 12, 18, 24, 36.

## When to ignore it

Ignore it where all racks have to work for one job, and the next smaller product of axes would leave some idle.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 72}
workload: {model: llama-3.1-70b, sequence_length: 32768, global_batch: 288}
layout: {tp: 8, cp: 2, pp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 72}
workload: {model: llama-3.1-70b, sequence_length: 32768, global_batch: 256}
layout: {tp: 8, cp: 2, pp: 2, nodes_per_domain: 16}
```

## Sources

- Aligning with the domain: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.domains import ranks_text, used_domain
from clusterspec.rules.knowledge.shares import REPLICA_AXES, exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list

RULE = Rule.of(__name__, "warning")


AXES = {"tp": ("tp", "expert_tp"), "cp": ("cp",), "pp": ("pp",), "dp": (*REPLICA_AXES, "shard")}
"""For each axis of the layout, the axes over which its groups run collectives."""


def check(placements: Placements, cluster: Cluster, layout: Layout, timed: Plan | None) -> Iterator[Problem]:
    domain = used_domain(cluster, layout)
    one_node = cluster.scale_up.domain <= cluster.accelerators_per_node
    if one_node or layout.ranks <= domain or domain % layout.tp:
        return
    axes, product = _innermost_axes(layout, domain)
    if domain % product == 0:
        return
    outer = axes[-1]
    placement = placements.of(outer)
    if placement is None or placement.straddling == 0:
        return
    name = " × ".join(f"{axis} {getattr(layout, axis)}" for axis in axes)
    nodes = domain // product * product // cluster.ranks_per_node
    fits = or_list(size for size in range(layout.tp, domain + 1) if domain % size == 0 and size % layout.tp == 0)
    yield RULE.problem(
        f"layout.{outer}",
        f"{name} = {product} does not divide a domain of {domain} ranks: {placement.straddling:,} of {placement.groups:,} "
        f"{outer} groups span two domains (the first: ranks {ranks_text(placement.first_straddling, placement.ranks)})",
        f"use a product of {fits}"
        + (f", or {nodes} nodes of each domain (`nodes_per_domain: {nodes}`)" if nodes else ""),
        severity=step_severity(_exposed_share(timed, outer), timed, unknown="warning", most="warning"),
    )


def _exposed_share(timed: Plan | None, axis: str) -> float | None:
    """The share of the step that exposed collectives of an axis take; None if the step time is unknown."""
    return share_of_step(exposed_seconds(timed, AXES[axis]), timed) if timed and timed.step else None


def _innermost_axes(layout: Layout, domain: int) -> tuple[list[str], int]:
    """The innermost axes with a degree above 1 whose product divides the domain, and that product."""
    axes: list[str] = []
    product = 1
    for axis in layout.order:
        name = "dp" if axis.startswith("dp") else axis
        degree = getattr(layout, name)
        if name == "ep" or degree == 1 or name in axes:
            continue
        if product * degree > domain or domain % product:
            break
        axes.append(name)
        product *= degree
    return axes, product
