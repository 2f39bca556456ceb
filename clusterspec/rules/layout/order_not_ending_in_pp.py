"""With experts, Megatron requires the pipeline to be the last axis of the order.

## What it finds

Megatron Core or NeMo with pp and ep above 1, and an `order` that does not end in pp. The rule is silent where expert
data parallelism equals data parallelism and the pipeline groups of dense and expert layers are the same.

## Why it matters

Dense and expert layers are placed separately and must agree on the stage of each rank. Megatron asserts that the order
ends in pp, or that expert_dp equals dp and both placements give the same pipeline groups.

## What to do

Write `order: [tp, cp, ep, dp, pp]`.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes another `order`. The new order places other ranks together, and the launcher must use the
same one.

## Fires

```yaml layout.order
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 2, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, dp, pp]}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 4, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]}
```

## Sources

- Both assertions of Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/parallel_state.py#L898
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.rules.words import as_yaml

RULE = Rule.of(__name__, "error")


def check(layout: Layout) -> Iterator[Problem]:
    if layout.pp == 1 or layout.ep == 1 or layout.order[-1] == "pp":
        return
    if not layout.capabilities.has("requires.pp_last_with_experts"):
        return
    if layout.expert_dp == layout.dp and _rank_stride(layout, _dense_degrees(layout)) == _rank_stride(
        layout, _expert_degrees(layout)
    ):
        return
    order = as_yaml((*(axis for axis in layout.order if axis != "pp"), "pp"))
    message = (
        f"the order ends in {layout.order[-1]}: {layout.framework} with experts asserts that it ends in pp, unless "
        f"expert_dp ({layout.expert_dp}) equals dp ({layout.dp}) and both give the same pipeline groups"
    )
    yield RULE.problem("layout.order", message, f"write `order: {order}`", fix=value_fix("layout.order", order))


def _dense_degrees(layout: Layout) -> dict[str, int]:
    """Degrees of the dense layers, by axis."""
    return {"tp": layout.tp, "cp": layout.cp, "dp": layout.dp}


def _expert_degrees(layout: Layout) -> dict[str, int]:
    """Degrees of the expert layers, by axis; cp is 1 there."""
    return {"tp": layout.expert_tp, "ep": layout.ep, "dp": layout.expert_dp}


def _rank_stride(layout: Layout, degrees: dict[str, int]) -> int:
    """Ranks between neighboring pipeline stages: the product of the degrees before pp in the order."""
    axes = dict.fromkeys(axis.partition("_")[0] for axis in layout.order[: layout.order.index("pp")])
    return prod(degrees.get(axis, 1) for axis in axes)
