"""The layout divides the model more than its size needs, and its kernels are small.

## What it finds

In training, a rank that uses at most 70 % of its memory at less than 45 % MFU, where lower degrees of tensor, context
or pipeline parallelism, or a larger micro-batch, fit and shorten the predicted step by at least 30 %. Examples are tp 8
and pp 4 for 8 billion parameters, tp 8 for one billion, and cp 8 for sequences of 2,048 tokens. Where tp is the only
degree above 1 other than dp, the rule requires that a quarter of it or less halves the step, since published runs use
twice the tp that is predicted to be fastest. Where context parallelism leaves a rank 2,048 tokens or fewer, the rule
applies at any MFU, from a saving of 10 % on. Severity follows the predicted saving: a note below the half-width of the
range of that difference, a warning above it, and an error if it is at least a quarter of the step even at the low end
of the range.

## Why it matters

Each rank computes a slice. A tensor-parallel slice of a small model, or 256 tokens of a sequence, make GEMMs that leave most of the
accelerator idle, and every layer waits for its group; data parallelism of the same ranks communicates once per step.

## What to do

Use the degrees that the message names: the ranks become replicas, and the global batch stays.

## When to ignore it

Ignore it where the layout was measured, or belongs to a later, larger job.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 512}
layout: {framework: megatron-core, cp: 8}
```

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.2-1b, sequence_length: 1024, global_batch: 512}
layout: {framework: megatron-core, tp: 8}
```

```yaml layout.micro_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.2-1b, sequence_length: 512, global_batch: 4096}
layout: {framework: megatron-core}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {framework: megatron-core, tp: 2}
```

## Sources

- Efficient layouts by size of the model: https://arxiv.org/abs/2104.04473
- Sizes of GEMMs and their efficiency: https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html


"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import Alternative, WhatIf
from clusterspec.rules.rule import Rule

RULE = Rule.of(
    __name__,
    "warning",
    "likely",
    yields_to=(
        "tp-communication-exposed",
        "pipeline-bubble",
        "fewer-microbatches-than-stages",
        "cp-crosses-scale-up-domain",
        "tp-crosses-scale-up-domain",
        "tp-straddles-scale-up-domain",
        "tp-over-pcie",
    ),
)
LOW = 0.45
"""The MFU of a layout below which another layout may plausibly save `GAIN`."""
FULL = 0.7
"""Share of the memory above which the degrees are needed to fit the model."""
GAIN = 0.3
"""Smallest share of the step that another layout must save."""
HALF = 0.5
"""Smallest share of the step that a lower tp alone must save; a published 8B run loses a third through its tp."""
THIN = 2048
"""Tokens per rank at or below which context parallelism divides a short sequence; published runs keep 8,192 or more."""
SMALL_GAIN = 0.1
"""Smallest share of the step that less context parallelism must save if each rank has at most `THIN` tokens."""
SHORT = 4096
"""Smallest number of micro-batch tokens per rank at which kernels are large."""


def check(training: Workload, layout: Layout, timed: Plan, what_if: WhatIf) -> Iterator[Problem]:
    if timed.mfu is None or training.rl is not None or timed.stored is None or training.trainable is not None:
        return
    capacity = timed.stored.capacity
    if capacity is None or timed.stored.total > FULL * capacity.value:
        return
    slices = layout.cp > 1 and layout.micro_batch * training.sequence_length <= THIN * layout.cp
    if timed.mfu < LOW:
        found = _fastest_alternative(
            what_if, _lower_degree_layouts(layout), SMALL_GAIN if slices else GAIN
        ) or _fastest_alternative(what_if, _larger_micro_batch_layouts(layout, training))
        found = found or _fastest_alternative(what_if, _narrower_tp_layouts(layout), HALF)
    else:
        found = _fastest_alternative(what_if, _lower_degree_layouts(layout), SMALL_GAIN) if slices else None
    if found is None:
        return
    saving = what_if.saved_share(found)
    key = next(each for each in ("cp", "pp", "tp", "micro_batch") if each in found.changes)
    yield RULE.problem(
        f"layout.{key}",
        f"a rank has little to compute in each kernel: {what_if.comparison_text(found)}",
        f"write `{found.words}`" + ("" if key == "micro_batch" else "; the ranks become replicas"),
        severity=what_if.severity(saving),
    )


def _fastest_alternative(
    what_if: WhatIf, candidates: list[Mapping[str, object]], least: float = GAIN
) -> Alternative | None:
    """The fastest layout that saves at least the given share of the step."""
    found = what_if.fitting_alternatives(candidates) if candidates else []
    saving = what_if.saved_share(found[0]) if found else None
    return found[0] if saving is not None and saving >= least else None


def _lower_degree_layouts(layout: Layout) -> list[Mapping[str, object]]:
    """Layouts with lower degrees: with less cp if cp is used, else with less pp, or with less tp and pp together."""
    without: dict[str, object] = {"stage_layers": None, "virtual_stages": None, "schedule": None}
    if layout.cp > 1:
        return [{"cp": layout.cp // times} for times in (2, 4, 8, 16) if layout.cp % times == 0]
    if layout.tp == 1:
        return [{"pp": layout.pp // times, **without} for times in (2, 4, 8, 16) if layout.pp % times == 0]
    if layout.pp == 1:
        return []
    pairs = ((tp, pp) for tp in (1, 2, 4) for pp in (1, 2) if layout.tp % tp == 0 and layout.pp % pp == 0)
    return [{"tp": tp, "pp": pp, **without} for tp, pp in pairs if tp < layout.tp and pp < layout.pp]


def _narrower_tp_layouts(layout: Layout) -> list[Mapping[str, object]]:
    """Layouts with at most a quarter of the tp, where tp is the only degree above 1."""
    if layout.cp > 1 or layout.pp > 1:
        return []
    return [{"tp": layout.tp // times} for times in (4, 8, 16) if layout.tp % times == 0]


def _larger_micro_batch_layouts(layout: Layout, training: Workload) -> list[Mapping[str, object]]:
    """Layouts with larger micro-batches, if the present micro-batches have few tokens."""
    if layout.cp > 1 or layout.tp > 1 or layout.micro_batch * training.sequence_length >= SHORT:
        return []
    return [{"micro_batch": layout.micro_batch * times} for times in (2, 4, 8)]
