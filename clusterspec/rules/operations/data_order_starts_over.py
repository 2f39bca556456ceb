"""The data loader begins at the start of its order after every restart.

## What it finds

A data loader in the description or a comment whose position is not saved, or that begins with the first sample or shard again after
a restart, in an order that does not change. A loader that is moved on to the step of the checkpoint, or that draws a new order at
each restart, is silent.

## Why it matters

The weights go on from the checkpoint and see the first part of the data again. After some restarts the first samples have been read many
times, and the last ones never: it is no single pass, and the loss of the repeated part falls without meaning.

## What to do

Save the state of the loader with the checkpoint, or skip the samples that the steps have consumed.

## When to ignore it

Ignore it where samples are drawn at random without an order, as many as the data has.

## Fires

```yaml description
clusterspec: 1
description: The shards are read in the order of seed 1234. After a restart the data loader begins with the first shard again.
cluster: {platform: dgx-h200, nodes: 64}
```

## Silent

```yaml
clusterspec: 1
description: The shards are read in the order of seed 1234. After a restart the data loader skips the samples already consumed.
cluster: {platform: dgx-h200, nodes: 64}
```

## Sources

- Why the state of a loader belongs in a checkpoint: https://meta-pytorch.org/data/main/stateful_dataloader_tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_LOADER = pattern(
    r"(?i)\b(?:data ?loaders?|loaders?|(?:data )?samplers?|(?:data(?:set)?|shard) (?:iterators?|position|order|index|stream)|datenlader\w*|(?:daten)?lader|reihenfolge der (?:daten|shards)|chargeur|ordre des (?:données|fragments)|cargador|orden de los (?:datos|fragmentos))\b"
)
_RESTART = pattern(
    r"(?i)\b(?:re-?starts?|restarted|resum(?:es?|ed|ing)|requeue\w*|interruptions?|crash(?:es)?|failures?|preempt\w*|neustart\w*|wiederanlauf\w*|ausfall\w*|fortsetz\w*|redémarrages?|reprises?|reprend|interruption|reinicios?|reanuda\w*|fallos?)\b"
)
_UNSAVED = pattern(
    r"(?i)\b(?:state|position|offset|index|zustand|état|estado|posición|loader|sampler|datenlader|chargeur|cargador)\b[^.;]{0,50}?\b(?:(?:is|are|was|were|isn['’]t|does|do) ?(?:not|never)?(?: part of| in)? ?(?:saved|stored|checkpointed|kept|restored|written|the checkpoint)|nicht (?:mit)?(?:gespeichert|gesichert|abgelegt)|n['’]est pas (?:sauvegardée?|enregistrée?|conservée?)|no se (?:guarda|almacena|conserva))\b"
)
_NEGATED = pattern(r"(?i)\b(?:not|never|isn['’]t|nicht|pas|no)\b")
_OVER = pattern(
    r"(?i)\b(?:(?:begins?|starts?|restarts?|reads?|goes back|returns?|rewinds?) (?:[a-z]{2,8} ){0,3}?(?:with|at|from|to|in) (?:the |its )?(?:first|beginning|start|top|shard (?:0|zero|1|one)|sample (?:0|zero)|zero)\b|(?:starts?|begins?) (?:over|anew|afresh)\b"
    r"|(?:beginnt|fängt|startet) (?:[a-zäöü]{2,10} ){0,4}?(?:von vorn\w*|beim ersten|mit dem ersten|am anfang)|recommence\w* (?:[a-zé]{2,8} ){0,3}?(?:au début|au premier|par le premier|du début)|(?:empieza|vuelve|comienza) (?:[a-z]{1,8} ){0,4}?(?:por el primer|desde el principio|al principio|con el primer))"
)
_GOES_ON = pattern(
    r"(?i)\b(?:skips?|skipp(?:ed|ing)|fast-?forward\w*|consumed|stateful\w*|(?:new|another|different|fresh) (?:seed|order|permutation|shuffle)|re-?shuffl\w*|continues? (?:at|with|from|where|behind)|resumes? (?:at|from) (?:the |its )?(?:sample|position|shard|step|same)|(?<!not )(?<!never )saved (?:with|in) (?:the|each|every)|with replacement|überspring\w*|neue\w* (?:seed|reihenfolge)|neu gemischt|saute|nouvel ordre|nouvelle graine|salta|nueva semilla|nuevo orden)\b"
)
_NEXT_PASS = pattern(
    r"(?i)\b(?:(?:next|second|each|every|new|end of (?:the|an?|each|every)) (?:epoch|pass)|epochs?|nächste\w* durchlauf|époque|época)\b"
)
_CUES = ("loader", "sampler", "shard", "data", "lader", "daten", "chargeur", "cargador", "datos", "données")


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    if _RESTART.search(own_remarks) is None or _LOADER.search(own_remarks) is None:
        return
    sentences = [" ".join(each.split()) for each in sentences_of(own_remarks.replace("#", " "))]
    for number, sentence in enumerate(sentences):
        if _LOADER.search(sentence) is None:
            continue
        near = ". ".join(sentences[max(0, number - 1) : number + 2])
        if _RESTART.search(near) is None or _GOES_ON.search(near) is not None:
            continue
        over = _OVER.search(sentence)
        unsaved = _UNSAVED.search(sentence)
        lost = unsaved is not None and _NEGATED.search(unsaved[0]) is not None
        if over is not None and (lost or _NEXT_PASS.search(sentence) is None):
            message = "the data loader begins at the start of its order after every restart: the first samples are read again, and the last ones never"
            yield RULE.problem(
                "description", message, "save the state of the loader with the checkpoint, or skip the consumed samples"
            )
            return
