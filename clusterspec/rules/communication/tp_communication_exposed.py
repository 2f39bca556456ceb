"""Exposed tensor-parallel communication is a large part of the layer.

## What it finds

Tensor-parallel traffic that adds more than 25 % to the predicted compute, with groups inside the domain and
`overlap.tp` not true. The finding is a note unless half the tp, with the freed ranks as stages or replicas, is
predicted to save more of the step than the half-width of the range of that difference. It is then a warning if a
quarter of the tp fits as well and leaves each replica at least four sequences per step, and an error if at least a
quarter of the step is lost even at the low end of the range. Published runs use twice the tp that is predicted to be
fastest, and more where the batch allows no more replicas.

## Why it matters

A higher tp makes the GEMMs of each rank smaller, but not the four reductions of activations per layer: tp 4 × pp 2 is
often faster than tp 8. The help gives the prediction.

## What to do

Use a smaller tp, with pp or sharded data parallelism for the memory; or overlap (`overlap: {tp: true}` with sequence
parallelism).

## When to ignore it

Ignore it where tp is needed for memory or for latency.

## Options

`thresholds = {tp-communication-exposed = 0.25}` in the configuration sets the share above which the rule reports. The
number is a share of the predicted compute time. The default is 0.25.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: tpu-v6e, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 2, sharding: zero1}
```

## Sources

- tp against pp: https://arxiv.org/abs/2104.04473
- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, ScaleUp, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, Alternative, WhatIf
from clusterspec.rules.knowledge.shares import computing_seconds, exposed_seconds
from clusterspec.rules.parts import Placements, Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.25
WIDER = 4
"""Smallest factor between the used and the needed tp at which tp is a flaw; published runs use twice the needed tp."""
ACCUMULATED = 4
"""Sequences per replica and step from which more replicas are possible. Nemotron-4 15B (arXiv 2402.16819, table 2) kept
tp 8 with four sequences; a quarter of its tp would leave one.
"""


def check(
    thresholds: Thresholds,
    placements: Placements,
    training: Workload,
    layout: Layout,
    scale_up: ScaleUp,
    timed: Plan,
    what_if: WhatIf,
) -> Iterator[Problem]:
    if layout.tp == 1 or layout.overlap.tp == "full":
        return
    placement = placements.of("tp")
    if placement is None or placement.straddling or not computing_seconds(timed):
        return
    if scale_up.topology == "full-mesh" and placement.accelerators < scale_up.domain:
        return  # partial-mesh-group reports the cause
    seconds = exposed_seconds(timed, {"tp"})
    added = seconds / computing_seconds(timed)
    if added <= thresholds.of(RULE.name, MOST):
        return
    better = _halved_tp_alternative(what_if, layout)
    overlap = "`overlap: {tp: true}` with sequence parallelism, where the framework supports it"
    yield RULE.problem(
        "layout.tp",
        f"exposed tensor-parallel communication adds {display(seconds, 's')} to {display(computing_seconds(timed), 's')} of computation ({percent(added, 2)})",
        f"{what_if.comparison_text(better)}; or {overlap}"
        if better
        else f"use {overlap}; a smaller tp is predicted no faster",
        severity=_severity(what_if, layout, better),
    )


def _severity(what_if: WhatIf, layout: Layout, better: Alternative | None) -> str:
    """Severity by the step time that half the tp saves; a warning is lowered to a note unless a quarter of the tp would
    fit.
    """
    severity = what_if.severity(what_if.saved_share(better) if better else 0.0)
    few = layout.tp // WIDER
    sequences = (layout.micro_batches or 0) * layout.micro_batch / WIDER
    suffices = few and sequences >= ACCUMULATED and what_if.fitting_alternatives([{"tp": few}])
    return "note" if severity == "warning" and not suffices else severity


def _halved_tp_alternative(what_if: WhatIf, layout: Layout) -> Alternative | None:
    """The layout with half the tp and the freed ranks as stages or replicas, if it is noticeably faster; else None."""
    half = layout.tp // 2
    changes: list[dict[str, object]] = [{"tp": half, "pp": layout.pp * 2, "stage_layers": None}, {"tp": half}]
    found = what_if.faster_alternatives(changes, NOTICEABLE)
    saving = what_if.saved_share(found[0]) if found else None
    return found[0] if saving is not None and saving > NOTICEABLE else None
