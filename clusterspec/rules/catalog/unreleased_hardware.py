"""A part has been announced and cannot be delivered yet.

## What it finds

An accelerator, interconnect, technology, switch or platform whose catalog entry says `announced`.

## Why it matters

Announced parts slip by quarters and change their figures on the way: bandwidth, memory and power of the catalog's entry
are promises. A schedule that depends on one needs a plan without it.

## What to do

Plan on a part that ships, or record the risk and its date in the procurement.

## When to ignore it

For designs meant for the year when the part is due.

## Fires

```yaml cluster.platform
clusterspec: 1
cluster: {platform: rubin-ultra-nvl576, nodes: 144}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
```

## Sources

- What is announced and what ships: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Entry
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")


def check(facts: Facts, cluster: Cluster) -> Iterator[Problem]:
    """The platform speaks for the parts that it brings; a part named beside it speaks for itself."""
    asked = facts.procurement.as_of if facts.procurement else None
    when = f"wanted on {asked}" if asked else f"today is {facts.today.isoformat()}"
    for at, entry in _named(facts, cluster):
        if entry is not None and entry.status.state == "announced":
            message = f"{entry.name} is announced and not shipping, as the catalog knew on {entry.status.as_of}; {when}"
            yield RULE.problem(at, message, "plan on a part that ships, or record the risk")


def _named(facts: Facts, cluster: Cluster) -> Iterator[tuple[str, Entry | None]]:
    said, fabric = facts.written_cluster, cluster.scale_out
    if said is None:
        return
    if said.platform:
        yield "cluster.platform", cluster.platform
    if said.accelerator:
        yield "cluster.accelerator", cluster.accelerator
    if said.scale_up and said.scale_up.interconnect:
        yield "cluster.scale_up.interconnect", cluster.scale_up.interconnect
    if said.scale_out and said.scale_out.technology and fabric:
        yield "cluster.scale_out.technology", fabric.technology
    if said.scale_out and said.scale_out.switch and fabric:
        yield "cluster.scale_out.switch", fabric.switch
