"""The layers of the stages do not sum to the model's layers.

## What it finds

A `stage_layers` whose sum is not the model's layers, or whose length is neither pp nor pp × `virtual_stages`; a stage of 0
layers that is neither the first, with the embedding, nor the last, with the loss.

## Why it matters

Layers without a stage are not trained. A stage without work adds to the bubble. A list of another length describes another pipeline.

## What to do

Correct the list. The help gives an even split.

## When to ignore it

Do not ignore it. If the framework counts the embedding or the loss as a layer, do not count them in `stage_layers`.

## Fires

```yaml layout.stage_layers
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, stage_layers: [7, 8, 8, 7]}
```

```yaml layout.stage_layers[2]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, stage_layers: [8, 12, 0, 12]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 4, stage_layers: [7, 9, 9, 7]}
```

## Sources

- Uneven stages of Llama 3, section 3.3.2: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog.models import Model
from clusterspec.cluster.degrees import even_stages
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error")


def check(written_layout: LayoutSpec, layout: Layout, model: Model | None) -> Iterator[Problem]:
    stages, at = written_layout.stage_layers, "layout.stage_layers"
    if stages is None:
        return
    lengths = sorted({layout.pp, layout.pp * layout.virtual_stages})
    if len(stages) not in lengths:
        wanted = or_list(lengths)
        message = f"`stage_layers` has {len(stages)} numbers; pp {layout.pp} × {layout.virtual_stages} virtual stages need {wanted}"
        yield RULE.problem(at, message, f"write as many numbers: {wanted}")
    elif model is not None and sum(stages) != model.layers:
        layers = model.layers
        even = list(even_stages(layers, len(stages)))
        message = f"the stages have {sum(stages)} layers in all, the model has {layers}"
        yield RULE.problem(at, message, f"write `stage_layers: {even}`, which is as even as possible")
    elif model is not None and (empty := _place_of_empty_stage(stages, model)) is not None:
        message = f"stage {empty + 1} of {len(stages)} has no layers, and neither the embedding nor the loss is on it"
        yield RULE.problem(f"{at}[{empty}]", message, "give it layers, or use fewer stages")


def _place_of_empty_stage(stages: Sequence[int], model: Model) -> int | None:
    """The position of a stage without layers that is not at an end of the pipeline; None if there is none. With
    token-prediction layers, the stage before the last one may be empty too.
    """
    first, last = 1, len(stages) - (2 if model.prediction else 1)
    return next((place for place in range(first, last) if stages[place] == 0), None)
