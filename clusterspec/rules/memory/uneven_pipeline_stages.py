"""One pipeline stage has noticeably more work than the others.

## What it finds

A stage whose GEMM weights, output head included, exceed the mean by more than 5 % where a more even split exists. The
finding is a warning where the heaviest stage of a stated split has 8 % more work than in the most even split, and an
error at a third more, which loses a quarter of the step. It is a note below 8 %, if the split is not stated, and if the
first and the last stage hold fewer layers than the others, as in published runs, to leave memory for embedding and
head. With `schedule: dualpipe` each rank holds two stages, one from each end, and their work counts together. A note is
given only where the more even split is not predicted to be slower, as it is where layers wait for kernel launches and
the output head does not.

## Why it matters

All stages run at the pace of the slowest. Llama 3.1 8B on four stages of eight layers has its output head on the last
stage, with the FLOPs of 2.4 layers: the other three stages are idle for almost a quarter of the step. BLOOM's team
rebalanced its stages for this reason.

## What to do

Put fewer layers on the stages with embedding and head (`stage_layers: [8, 9, 9, 6]`), or virtual stages.

## When to ignore it

Ignore it where memory fixes pp and no split is more even.

## Fires

```yaml layout.stage_layers
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, stage_layers: [10, 8, 8, 6]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 8, pp: 2, stage_layers: [41, 39]}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md
- BLOOM's chronicle, "Rebalancing layers": https://github.com/bigscience-workshop/bigscience/blob/master/train/tr11-176B-ml/chronicles-prequel.md
- Llama 3 took a layer from the first and the last stage, section 3.3.2: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "likely", yields_to=("stage-layers-mismatch",))
MOST = 1.05
COSTLY = 1 / 3
"""Smallest relative lengthening of the step at which an uneven split is an error: a quarter of the lengthened step is lost."""
NOTICED = 1.08
"""Smallest ratio of the heaviest stage to that of the most even split at which a stated split is a warning."""


def check(
    written_layout: LayoutSpec, training: Workload, model: Model, layout: Layout, what_if: WhatIf
) -> Iterator[Problem]:
    stated = written_layout.stage_layers is not None
    if layout.pp == 1 or not layout.stage_layers or len(layout.stage_layers) % layout.pp:
        return
    if not stated and model.layers % layout.pp:
        return  # layers-indivisible-by-pp reports a split that is not known
    ranks = [sum(layout.stage_layers[rank :: layout.pp]) for rank in range(layout.pp)]
    head = _head_in_layers(model)
    loads = [layers + (head if rank == layout.pp - 1 else 0) for rank, layers in enumerate(ranks)]
    mirrored = layout.schedule == "dualpipe" and layout.pp % 2 == 0
    if mirrored:
        loads = [here + there for here, there in zip(loads, reversed(loads), strict=True)]
    mean = sum(loads) / len(loads)
    heaviest = max(range(len(loads)), key=loads.__getitem__)
    best = _lightest_heaviest_stage(sum(ranks), head, layout.pp // 2 if mirrored else layout.pp)
    if mean <= 0 or loads[heaviest] / mean <= max(MOST, best / mean + 0.01):
        return
    split = (_even_mirrored_stages if mirrored else _even_stages)(sum(ranks), head, layout.pp)
    severity = _severity(loads[heaviest] / best) if stated and not _ends_hold_fewer_layers(ranks) else "note"
    if severity == "note" and _even_split_is_slower(what_if, split):
        return
    last = f" (the output head on the last stage equals {plain(head)} layers)" if head >= 0.5 else ""
    yield RULE.problem(
        "layout.stage_layers" if stated else "layout.pp",
        f"stage {heaviest + 1} of {layout.pp} has {percent(loads[heaviest] / mean - 1, 2)} more work than the mean{last}: all other stages wait for it",
        f"write `stage_layers: {split}`",
        severity=severity,
    )


def _even_split_is_slower(what_if: WhatIf, split: list[int]) -> bool:
    """Whether the more even split is predicted to take longer. This happens where layers wait for kernel launches, and
    the output head does not.
    """
    if what_if.refused:
        return False
    now, then = what_if.step_time, what_if.with_layout(stage_layers=tuple(split))
    return now is not None and then is not None and (then.step_seconds or 0.0) > now


def _severity(slower: float) -> str:
    """Severity by the time of the heaviest stage, which limits the pipeline, relative to the most even split."""
    return "error" if slower >= 1 + COSTLY else "warning" if slower >= NOTICED else "note"


def _ends_hold_fewer_layers(ranks: list[int]) -> bool:
    """Whether the first and the last stage hold fewer layers than the fullest one between."""
    return max(ranks[0], ranks[-1]) < max(ranks)


def _head_in_layers(model: Model) -> float:
    """The weights of the output head divided by the weights of a layer."""
    weights = model_weights(model)
    layer = (weights.multiplied_weights - model.vocab * model.hidden) / model.layers
    return model.vocab * model.hidden / layer if layer > 0 else 0.0


def _lightest_heaviest_stage(layers: int, head: float, stages: int) -> float:
    """The work of the heaviest stage in the most even split, in layers."""
    split = _even_stages(layers, head, stages)
    return max(max(split[:-1], default=0), split[-1] + head)


def _even_stages(layers: int, head: float, stages: int) -> list[int]:
    """Layers per stage such that the last stage, which has the output head, has no more work than the others."""
    last = max(0, round((layers + head) / stages - head))
    each, longer = divmod(layers - last, max(1, stages - 1))
    return [each + (1 if rank < longer else 0) for rank in range(stages - 1)] + [last]


def _even_mirrored_stages(layers: int, head: float, stages: int) -> list[int]:
    """Layers per stage such that pairs of stages from both ends are even; the outermost pair has the output head."""
    pairs = _even_stages(layers, head, stages // 2)[::-1]
    return [(pair + 1) // 2 for pair in pairs] + [pair // 2 for pair in reversed(pairs)]
