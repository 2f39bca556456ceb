"""The layers do not divide evenly over the pipeline stages.

## What it finds

`pp` above 1, a number of layers that it does not divide, and no `stage_layers`. Estimates then assume the most even
split. The finding is a warning. It is an error where there are fewer layers than stages (two stages may hold only
embedding and head), and where all layers are alike and the framework rejects virtual stages of different lengths. It is
a note in torchtitan and DeepSpeed, which distribute the layers themselves, and in custom frameworks. It is also a note
where pp divides the layers once embedding, loss and multi-token prediction count as layers, as in published runs with
126 or 61 layers.

## Why it matters

The longest stage determines the step time, and not every framework splits unevenly: older Megatron Core dropped the
remainder silently, so that 30 layers on four stages trained a model of 28.

## What to do

State `stage_layers` as the framework is configured; use a pp that divides the layers; or count the embedding and
the loss as layers where that makes the split even.

## When to ignore it

Ignore it where the framework's own split is known to be balanced; better, state the split as `stage_layers`.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload:
  model: {base: llama-3.1-8b, layers: 29}
  sequence_length: 8192
  global_batch: 256
layout: {pp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload:
  model: {base: llama-3.1-8b, layers: 30}
  sequence_length: 8192
  global_batch: 256
layout: {pp: 4, stage_layers: [7, 8, 8, 7]}
```

## Sources

- Layers dropped: https://github.com/NVIDIA/Megatron-LM/issues/1304
- Megatron-LM's check: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L998
- Reports of users: https://github.com/NVIDIA/Megatron-LM/issues/468 https://github.com/modelscope/ms-swift/issues/5737
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.cluster.pipelines import divides_with_ends, refuses_uneven_interleaving, stages_exceed_layers
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality, near_multiples
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec, ModelSpec

RULE = Rule.of(__name__, "warning")
SHOWN = 16
"""Largest number of stages whose layers are listed individually."""


def check(
    legality: Legality,
    what_if: WhatIf,
    written_layout: LayoutSpec,
    written_model: ModelSpec | None,
    model: Model,
    layout: Layout,
) -> Iterator[Problem]:
    if layout.pp == 1 or written_layout.stage_layers is not None:
        return
    stages = layout.pp * layout.virtual_stages
    if stages_exceed_layers(model, layout):
        message = f"{model.layers} layers cannot fill {stages} stages (pp {layout.pp} × {layout.virtual_stages})"
        yield RULE.problem(
            "layout.pp", message, _help(what_if, legality, written_model, model, layout), severity="error"
        )
    elif legality.breaks(RULE.name):
        assumed = f": assumed {_stage_runs_text(layout.stage_layers)} layers" if layout.stage_layers else ""
        message = f"{model.layers} layers are not divisible by pp {layout.pp}, and no `stage_layers` states the split{assumed}"
        severity = "error" if refuses_uneven_interleaving(model, layout) else "warning"
        if layout.capabilities.has("stages.by_itself") or divides_with_ends(model, stages):
            severity = "note"
        yield RULE.problem(
            "layout.pp", message, _help(what_if, legality, written_model, model, layout), severity=severity
        )


def _fitting_stages(what_if: WhatIf, legality: Legality) -> str:
    """Text with the nearest legal numbers of stages with which the model fits in memory; empty if none is known."""
    offered = legality.nearest_values(RULE.name, "pp") if what_if.advises else []
    tried = what_if.estimated_alternatives([{"pp": each} for each in offered])
    fitting = [layout.pp for each in tried if each.fits_in_memory and (layout := each.stored.design.layout) is not None]
    if what_if.design.workload is None:
        return legality.nearest_values_text(RULE.name, "pp")
    return legality.offered_text({"pp": fitting}) if fitting else ""


def _help(what_if: WhatIf, legality: Legality, written_model: ModelSpec | None, model: Model, layout: Layout) -> str:
    written = 1 < len(layout.stage_layers) <= SHOWN
    offers = [f"state `stage_layers: {list(layout.stage_layers)}`" if written else "state `stage_layers`"]
    if legal := _fitting_stages(what_if, legality):
        offers.append(legal)
    if model.layers > layout.pp and written_model is not None and written_model.layers is not None:
        offers.append(or_list(near_multiples(model.layers, layout.pp)) + " layers")
    for ends, which in ((1, "the loss"), (2, "embedding and loss")):
        if (model.layers + ends) % layout.pp == 0:
            offers.append(f"count {which} as layers: {(model.layers + ends) // layout.pp} per stage")
    return "; or ".join(offers)


def _stage_runs_text(stages: tuple[int, ...]) -> str:
    """Layers of each stage, equal neighbors together: ``1 × 7, 14 × 8, 1 × 7``."""
    runs: list[list[int]] = []
    for layers in stages:
        if runs and runs[-1][1] == layers:
            runs[-1][0] += 1
        else:
            runs.append([1, layers])
    return ", ".join(f"{many} × {layers}" for many, layers in runs)
