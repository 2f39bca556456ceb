"""Tensor parallelism cuts experts into slices where whole experts on fewer ranks are faster.

## What it finds

`expert_tp` above 1 that leaves 256 columns or fewer of an expert on a rank, in training, where ep could take its place:
a warning whatever saving is predicted, since the GEMM model is not fitted to such widths. Wider slices are reported
only with `ep: 1`, where each rank holds slices of all experts, and only if ep in place of `expert_tp` saves more of the
predicted step than the half-width of its range; a smaller saving is not even a note.

## Why it matters

Experts of recent models are narrow (768 to 2,048). Cut by 4, an expert of 768 has 192 columns on a rank: the grouped
GEMM spends most of its time on reads and kernel launches, each rank holds slices of all experts, and each layer adds a
collective over all routed tokens. Whole experts on fewer ranks (`ep`) do the same work in wide GEMMs.

## What to do

Use `expert_tp: 1` and distribute whole experts by `ep`.

## When to ignore it

Ignore it where the number of experts does not allow a larger ep.

## Fires

```yaml layout.expert_tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-core, tp: 4, ep: 2, expert_tp: 4}
```

```yaml layout.expert_tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: gpt-oss-120b, sequence_length: 8192, global_batch: 256, precision: bf16}
layout: {framework: megatron-core, tp: 8, pp: 4, recompute: selective}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-core, tp: 4, ep: 8, expert_tp: 1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x22b, sequence_length: 8192, global_batch: 256, precision: bf16}
layout: {framework: megatron-core, tp: 8, pp: 8}
```

## Sources

- Prefer expert over tensor parallelism for experts: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import Alternative, WhatIf
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "likely")
NARROW = 256
"""Number of expert columns per rank at or below which a GEMM tile (128 wide) is reused at most once."""


def check(training: Workload, model: Model, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    if model.experts == 0 or layout.expert_tp == 1:
        return
    narrow = model.expert_ffn_hidden <= NARROW * layout.expert_tp
    if layout.ep > 1 and not narrow:
        return
    better = _whole_experts(what_if, model, layout)
    if better is None or not (narrow or _saves_time(better, what_if)):
        return
    width = model.expert_ffn_hidden // layout.expert_tp
    yield RULE.problem(
        "layout.expert_tp",
        f"expert_tp {layout.expert_tp} divides experts of width {model.expert_ffn_hidden:,} to a width of {width} on a rank, and each rank "
        f"holds slices of {model.experts // layout.ep} experts{what_if.comparison(better)}",
        f"use `{better.words}`",
    )


def _saves_time(better: Alternative, what_if: WhatIf) -> bool:
    """Whether a layout saves more of the predicted step than half the width of the prediction's range."""
    saved = what_if.saved_share(better)
    return saved is not None and what_if.severity(saved, most="warning") == "warning"


def _whole_experts(what_if: WhatIf, model: Model, layout: Layout) -> Alternative | None:
    """The fastest layout that fits with unsharded experts, on the present number of expert ranks or on two or four
    times as many.
    """
    least = layout.ep * layout.expert_tp
    found = what_if.fitting_alternatives(
        {"ep": ep, "expert_tp": 1} for ep in (least, 2 * least, 4 * least) if model.experts % ep == 0
    )
    return found[0] if found else None
