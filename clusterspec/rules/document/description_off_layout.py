"""A count in the description differs from the one that the layout determines.

## What it finds

A number of replicas, of micro-batches for each replica and step, of sequences for each replica, of layers for each pipeline
stage or of experts for each rank in a description or a comment, where the degrees, the batch and the model give another one.
Numbers of another plan, of a condition or of an earlier run are not read.

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

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_clauses import clause_at, is_hypothetical, is_of_other_plan
from clusterspec.rules.knowledge.text_quantities import plain_sentences
from clusterspec.rules.knowledge.text_units import NUMBERS
from clusterspec.rules.knowledge.written_numbers import MOST_MATCHES, belongs_to_something_else
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")


class Count(NamedTuple):
    """A count of the layout: its name in messages, its pattern in texts, and the pattern of the words for what it is
    counted per.
    """

    name: str
    words: re.Pattern[str]
    of_each: re.Pattern[str] | None = None


_NUMBER = rf"(?<![\w.,/-])(?P<n>\d{{1,6}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_EACH = r"(?:per|a|each|every|for each|je|pro|par|por|jede[rs]?|chaque|cada|on each|in each)"
REPLICAS, MICRO_BATCHES, SEQUENCES = "replicas", "micro-batches for each replica", "sequences for each replica"
LAYERS, EXPERTS = "layers for each stage", "experts for each rank"
COUNTS = (
    Count(
        REPLICAS,
        pattern(
            rf"(?i){_NUMBER} (?:data[- ]parallel |model |dp )?(?:replicas|replikate|répliques|réplicas)\b(?! (?:of|for) (?:the )?(?:data|checkpoint|store|file|weights|router|database|engine))"
        ),
    ),
    Count(
        MICRO_BATCHES,
        pattern(rf"(?i){_NUMBER} (?:micro-?batch(?:es)?|mikrobatches|micro-lots)\b(?! ?(?:size|of \d+ (?:k|m)\b))"),
        pattern(rf"(?i)\b{_EACH} (?:replica|replikat|rank|step|schritt|update|optimizer step|pipeline|réplique|pas)\b|\baccumulat\w+|\beach$"),
    ),
    Count(
        SEQUENCES,
        pattern(rf"(?i){_NUMBER} (?:sequences|sequenzen|séquences|secuencias|samples)\b"),
        pattern(rf"(?i)\b{_EACH} (?:data-parallel )?(?:replica|replikat|réplique|réplica)\b"),
    ),
    Count(
        LAYERS,
        pattern(rf"(?i){_NUMBER} (?:(?:transformer|decoder) )?(?:layers|blocks|schichten|couches|capas)\b"),
        pattern(rf"(?i)\b{_EACH} (?:pipeline )?(?:stage|stufe|étage|etapa)\b"),
    ),
    Count(
        EXPERTS,
        pattern(rf"(?i){_NUMBER} (?:routed )?(?:experts|experten|expertos)\b"),
        pattern(rf"(?i)\b{_EACH} (?:gpu|rank|accelerator|chip|device|beschleuniger)\b"),
    ),
)  # fmt: skip
_CUES = ("repli", "répli", "icro", "sequen", "equenz", "layer", "chicht", "expert", "block", "couche", "capa", "sample")
_PARTLY = pattern(
    r"(?i)\b(?:first|last|at least|at most|up to|more|fewer|less|than|instead|rather|ramp\w*|grows?|rehearsal|begins?|starts?|until|lost|left|fail\w*|after|shrink\w*|spare|"
    r"serv\w+|engines?|reward|rollout|draft|teacher|warm-?up|hsdp|shard\w*|active|chosen|shared|top|of which|of them|between|erst\w*|mindestens|höchstens|\d+ (?:to|or|und|bis) \d+)\b"
)
"""Pattern of words in a clause whose number is a part, a bound, a time or the number of another job."""


def check(own_remarks: str, training: Workload, layout: Layout) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None or not any(cue in own_remarks for cue in _CUES):
        return
    sentences = plain_sentences(own_remarks)
    for count in COUNTS:
        right = _right_counts(count.name, training, layout)
        stated = [each for sentence in sentences for each in _stated_counts(count, sentence)]
        if right and stated and len({value for value, _ in stated}) == 1 and stated[0][0] not in right:
            value, words = stated[0]
            message = f"`{words}`: the layout has {right[0]:,} {count.name}, not {value:,}"
            yield RULE.problem("description", message, "correct the text, the degrees or the batch")
            return


def _stated_counts(count: Count, sentence: str) -> Iterator[tuple[int, str]]:
    """The counts of one kind that a sentence states for this plan, each with its words."""
    for match in islice(count.words.finditer(sentence), MOST_MATCHES):
        clause = clause_at(sentence, match.start(), match.end())
        near = sentence[max(0, match.start() - NEAR) : match.end() + NEAR]
        if count.of_each is not None and count.of_each.search(near) is None:
            continue
        if belongs_to_something_else(sentence, match.start()) or _PARTLY.search(near) is not None:
            continue
        if not is_of_other_plan(clause) and not is_hypothetical(clause):
            yield NUMBERS.get(match["n"].lower()) or int(match["n"]), match[0]


NEAR = 40
"""Number of characters before and after a count that are searched for words that change its meaning."""


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
