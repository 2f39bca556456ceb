"""Accelerators without peer-to-peer access share tensors inside a node.

## What it finds

tp, cp or ep above 1 inside a node of accelerators whose driver blocks direct access to each other's memory, such as
GeForce cards. The rule is silent where `scale_up.peer_bandwidth` or `measured` states the bandwidth that they reach.
The finding is a warning. It is a note for engines of up to four cards, which share a model because of its size, and for
engines without targets or that meet them at the upper end of the predicted range.

## Why it matters

Every transfer between two cards then goes to host memory and back: at 12 GB/s on one GeForce card of 2022, less than
half of the bandwidth of their slots. The estimate counts this rate; cards on different sockets reach less.

## What to do

Use dp or pp between the cards, add a measurement (`measured`), or use workstation cards, which have peer-to-peer
access.

## When to ignore it

Ignore it where a patched driver enables direct access.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {accelerator: rtx-4090, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: rtx-pro-6000, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 2}
```

## Sources

- 12 GB/s between two cards: https://gist.github.com/muellerzr/fbfabd0fc02ac259f0a47d6a51b36d0e
- What the driver blocks: https://github.com/tinygrad/open-gpu-kernel-modules
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.measured_shares import OF_DEVICES
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.serving.targets import target_results
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "warning", "likely")


SERVED = 4
"""Largest number of cards over which engines split a model to gain memory (as in `tp-over-pcie`)."""


def check(
    cluster: Cluster, written_scale_up: ScaleUpSpec | None, layout: Layout, served: Served | None
) -> Iterator[Problem]:
    if cluster.accelerator.peer_to_peer is not False or any(each.part not in OF_DEVICES for each in cluster.measured):
        return
    if written_scale_up is not None and written_scale_up.peer_bandwidth is not None:
        return
    axis = next((axis for axis in ("tp", "cp", "ep") if getattr(layout, axis) > 1), None)
    if axis is None:
        return
    yield RULE.problem(
        f"layout.{axis}",
        f"{cluster.accelerator.name} has no peer-to-peer access: every transfer of {axis} {getattr(layout, axis)} crosses host memory, "
        "at less than half of what the slots carry",
        "use dp or pp between the cards, or state their measured bandwidth under `measured`",
        severity="note" if served is not None and _serves_well_enough(layout, served) else "warning",
    )


def _serves_well_enough(layout: Layout, served: Served) -> bool:
    return layout.tp * layout.cp <= SERVED or _meets_targets(served)


def _meets_targets(served: Served) -> bool:
    results = target_results(served.times, served.load)
    return all(each.surely_met for each in results)
