"""A count in the description differs from the count in the layout.

## What it finds

A number of replicas, of micro-batches for each replica and step, of sequences for each replica, of layers for each pipeline
stage or of experts for each rank in a description or a comment, where the degrees, the batch and the model give another one.
Numbers of another plan, of a condition or of an earlier run are not read.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference: a power of ten,
a factor of two, bits for bytes, or one digit.

## Why it matters

These counts enter formulas for bubbles, memory and steps. A plan that is discussed with 32 micro-batches and runs with 16 has
another bubble.

## What to do

Correct the text, the degrees or the batch.

## When to ignore it

Ignore it where the text counts another unit than it names.

## Fires

```yaml description
clusterspec: 1
description: 16 boxes, so 16 replicas; each replica accumulates 32 micro-batches of one sequence per step.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, micro_batch: 1}
```

```yaml description
clusterspec: 1
description: "Pipeline: 4 Stufen, 24 Schichten je Stufe."
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 4, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
description: 16 replicas with 16 micro-batches of one sequence per step each. The rehearsal on 8 boxes had 8 replicas.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, micro_batch: 1}
```

## Sources

- Arithmetic: replicas are ranks over the degrees of the model, micro-batches the batch over replicas and micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.doubt import confidence_in
from clusterspec.rules.readers.statements.named_terms import LAYERS, MICRO_BATCHES, NAMED_COUNTS, REPLICAS, SEQUENCES
from clusterspec.rules.readers.statements.stated_keys import wrong_statements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("repli", "répli", "icro", "sequen", "equenz", "layer", "chicht", "expert", "block", "couche", "capa", "sample")


def check(own_remarks: str, training: Workload, layout: Layout) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None or not any(cue in own_remarks for cue in _CUES):
        return
    right: dict[str, Sequence[float]] = {
        each.key: counts for each in NAMED_COUNTS if (counts := _right_counts(each.key, training, layout))
    }
    for stated in wrong_statements(own_remarks, right, NAMED_COUNTS):
        name = stated.key.key
        message = f"`{stated.words}`: the layout has {right[name][0]:,} {name}, not {stated.value:,.0f}"
        confidence = confidence_in(f"{stated.value:,.0f}", f"{right[name][0]:,}")
        yield RULE.problem("description", message, "correct the text, the degrees or the batch", confidence=confidence)
        return


def _right_counts(name: str, training: Workload, layout: Layout) -> tuple[int, ...]:
    """The counts of one kind that are right for the layout, the usual way of counting first; empty if the layout has no
    such count.
    """
    per_replica = training.global_batch // layout.dp if training.global_batch % layout.dp == 0 else 0
    if name == REPLICAS:
        return layout.dp, layout.expert_dp, layout.dp // max(1, layout.shard_group)
    if name == MICRO_BATCHES:
        return (layout.micro_batches, layout.micro_batch) if layout.micro_batches else ()
    if name == SEQUENCES:
        return (per_replica, layout.micro_batch, training.global_batch) if per_replica else ()
    if name == LAYERS:
        stages = layout.stage_layers
        whole = [sum(stages[at :: layout.pp]) for at in range(layout.pp)]
        return (*whole, *stages, training.model.layers) if layout.pp > 1 else ()
    model = training.model
    held = -(-(model.experts + layout.redundant_experts) // layout.ep)
    others = (model.experts // layout.ep, model.experts, model.experts_per_token)
    return (held, *others) if model.experts and layout.ep > 1 else ()
