"""Tensor-parallel ranks are not adjacent.

## What it finds

tp above 1 and an `order` in which an axis of degree above 1 comes before tp.

## Why it matters

Tensor parallelism sends the most bytes per step and overlaps the least. Adjacent ranks share a node and its scale-up
interconnect; strided ranks may not.

## What to do

Write `order: [tp, cp, ep, dp, pp]`.

## When to ignore it

Ignore it inside one switched domain, where every order is equally fast.

## Fix safety

The fix is unsafe: it writes another `order`. The new order places other ranks together, and the launcher must use the
same one.

## Fires

```yaml layout.order
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2, cp: 2, order: [cp, tp, ep, dp, pp]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2, cp: 1, order: [cp, tp, ep, dp, pp]}
```

## Sources

- dp and pp reversed in a trainer: https://github.com/huggingface/picotron/issues/17
- Megatron's order: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/parallel_state.py#L617
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.rules.words import and_list, as_yaml

RULE = Rule.of(__name__, "warning")


def check(placements: Placements, layout: Layout) -> Iterator[Problem]:
    if layout.tp == 1 or layout.order[0] == "tp":
        return
    before = [axis for axis in layout.order[: layout.order.index("tp")] if _axis_degree(layout, axis) > 1]
    placement = placements.of("tp")
    if not before or placement is None or placement.straddling:
        return  # tp-straddles-scale-up-domain reports groups in two domains
    order = as_yaml(("tp", *(axis for axis in layout.order if axis != "tp")))
    named = and_list(f"{axis} {_axis_degree(layout, axis)}" for axis in before)
    message = f"{named} {'varies' if len(before) == 1 else 'vary'} faster than tp, so the ranks of a tp group are {placement.stride} apart and may not share the fastest links"
    yield RULE.problem("layout.order", message, f"write `order: {order}`", fix=value_fix("layout.order", order))


def _axis_degree(layout: Layout, axis: str) -> int:
    """The degree of a dense axis; 1 for expert axes, which use the same ranks."""
    degrees = {"dp_shard": layout.shard_group, "dp_replicate": layout.dp // max(1, layout.shard_group), "ep": 1}
    degree: int = degrees.get(axis, 0) or getattr(layout, axis, 1)
    return degree
