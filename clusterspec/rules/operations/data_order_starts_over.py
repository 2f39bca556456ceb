"""The data loader begins at the start of its order after every restart.

## What it finds

A data loader in the description or a comment whose position is not saved, or that begins with the first sample or shard again after
a restart, in an order that does not change. A loader that is moved on to the step of the checkpoint, or that draws a new order at
each restart, is silent.

## Why it matters

The weights go on from the checkpoint and see the first part of the data again. After some restarts the first samples
have been read many times, and the last ones never: the run is no single pass, and the falling loss on the repeated part
means nothing.

## What to do

Save the state of the loader with the checkpoint, or skip the samples that the steps have consumed.

## When to ignore it

Ignore it where each sample is drawn at random, so that there is no order.

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
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.windows import MOST_SENTENCES
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_DATA = pattern(
    r"(?i)\b(?:data ?loaders?|loaders?|samplers?|readers?|iterators?|input pipeline|data(?:set|stream|s)?|corpus|shards?(?![\w-]*s? per)|samples?|file list|batch(?:es)?|"
    r"datenlader\w*|lader|leser|daten(?:strom|satz)?|datensätze|korpus|reihenfolge|chargeur|lecteurs?|données|fragments?|échantillons?|lecture|reading|cargador|lectores|datos|fragmentos|muestras?)\b"
)
_RESTART = pattern(
    r"(?i)\b(?:re-?starts?|restarted|restarting|relaunch\w*|resum(?:es?|ed|ing|ption)|requeue\w*|reload\w*|interrupt\w*|crash(?:es|ed)?|failures?|fails|recover\w*|preempt\w*|comes? back|"
    r"neustart\w*|wiederanlauf\w*|wiederaufnahme\w*|absturz|abstürzen?|ausfall\w*|ausfällen|fortsetz\w*|unterbrechung\w*|redémarr\w*|relanc\w*|reprises?|reprend|interruptions?|pannes?|reinici\w*|reanuda\w*|fallos?)\b"
)
_UNSAVED = pattern(
    r"(?i)\b(?:state|position|offset|index|cursor|progress|counter|zustand|zähler|état|compteur|estado|posición|loader|sampler|iterator|datenlader|chargeur|cargador)\b[^.;]{0,50}?"
    r"\b(?:(?:is|are|was|were|isn['’]t|does|do)(?: not| never)?(?: part of| in| among)? ?(?:saved|stored|checkpointed|kept|restored|written|persisted|recorded|lost|forgotten|the checkpoint|them)|"
    r"geht verloren|nicht (?:mit)?(?:gespeichert|gesichert|abgelegt|enthalten)|n['’](?:est|y est) pas(?: (?:sauvegardée?|enregistrée?|conservée?))?|(?:est )?perdue?|no se (?:guarda|almacena|conserva)|se pierde)\b"
)
_NEGATED = pattern(r"(?i)\b(?:not|never|isn['’]t|lost|forgotten|verloren|nicht|pas|perdue?|no|pierde)\b")
_ONLY_MODEL = pattern(
    r"(?i)\bonly (?:the )?(?:weights|model|parameters|optimizer)\b|\b(?:nur|seuls?|seulement|solo) (?:die |les |los )?(?:gewichte|modell|poids|pesos)\b"
)
_START = r"(?:first (?:shards?|samples?|batch(?:es)?|documents?|records?|tokens?|files?|examples?|rows?|items?|sequences?|index|step)|beginning|start|top|zero|0+|shard[- _]?(?:0+|zero|1|one)(?!\d)|(?:sample|batch|index|epoch|record|document|file|position|step|offset) ?(?:number )?(?:0+|1|zero|one)(?!\d))"
_OVER = pattern(
    r"(?i)\b(?:begin(?:s|ning)?|starts?(?:ing)?|restarts?|reads?|goes|go|returns?|rewinds?|seeks?|opens?|iterates?|replays?|sees?|resets?|jumps?|comes?|served?|counts?) (?:[\w#-]{1,16} ){0,5}?(?:(?:with|at|from|to|in|by|on) )?(?:(?:the|its|their) )?(?:very )?"
    + _START
    + r"\b|\b(?:over|anew|afresh|from (?:the )?(?:top|scratch|start|beginning))\b(?= (?:again|with|in|at)\b|[ ,]*$|[,.;])|\breset(?:s)? to (?:zero|0|the start|the beginning)\b"
    r"|\bfrom (?:the )?(?:beginning|start|top) of (?:the |its )?(?:data\w*|corpus|file list|list|order|shards?|epoch)\b"
    r"|\bfrom (?:the )?(?:first one|(?:sample|batch|index|shard|position|document|step) (?:0|1|zero|one)(?!\d))\b"
    r"|\bvon (?:vorne?|neuem|null|anfang)\b|\b(?:ab|beim|mit|am|zum|bei|vom) (?:dem |der )?(?:ersten|anfang|null)\b|\b(?:ab|bei) (?:shard|sample|index|batch) (?:0|1|null)\b"
    r"|\b(?:au|du|depuis le|dès le|à partir du|par le) (?:tout )?(?:début|premier|zéro)\b|\bde zéro\b|\b(?:por el primer|desde el principio|al principio|con el primer|desde cero|de cero)"
)
_AGAIN = pattern(r"(?i)\b(?:open|begin|start|read)s? [^.;]{0,40}?\b(?:anew|over|afresh)\b")
_GOES_ON = pattern(
    r"(?i)\b(?:skips?|skipp(?:ed|ing)|fast-?forward\w*|consumed|stateful\w*|(?:new|another|different|fresh) (?:seed|order|permutation|shuffle)|re-?shuffl\w*|(?:continues?|goes? on|picks? up|carr\w+ on) (?:at|with|from|where|behind|after)|resumes? (?:at|from|where) (?:the |its |it )?(?:sample|position|shard|step|same|left|saved|stopped)|"
    r"(?<!not )(?<!never )(?:saved|stored|restored|kept|recorded) (?:with|in|from) (?:the|each|every)|part of (?:the|each|every) checkpoint|(?:saved|stored) (?:offset|position|state|index)|left off|with replacement|"
    r"überspring\w*|neue\w* (?:seed|reihenfolge|permutation)|neu gemischt|fährt fort|dort fort|saute|nouvel ordre|nouvelle (?:graine|permutation)|mélange à nouveau|là où|salta|nueva semilla|nuevo orden|donde quedó)\b"
)
_NOT_IN = pattern(r"(?i)\b(?:not|never|isn['’]t) (?:a )?part of (?:the|each|every) checkpoint")
_NEXT_PASS = pattern(
    r"(?i)\b(?:(?:next|second|each|every|new|end of (?:the|an?|each|every)) (?:epoch|pass)|(?<!of )(?<!in )epochs|nächste\w* durchlauf|époque|época)\b"
)
_OTHER_THING = pattern(
    r"(?i)\b(?:evaluat\w*|validat\w*|benchmark\w*|reward|inference|counter of|tests?|log|warm-?up|would|could|unless|workers?|crawl|checkpoint (?:reader|from|is)|reads? the checkpoint|stores?|rewritten|without|optional\w*|ohne|würde|sans|sin)\b"
)
_CUES = (
    "load",
    "sampl",
    "shard",
    "data",
    "iterat",
    "corpus",
    "reader",
    "lader",
    "daten",
    "korpus",
    "leser",
    "chargeur",
    "lect",
    "cargador",
    "datos",
    "données",
    "fragment",
)


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    if _RESTART.search(own_remarks) is None or _DATA.search(own_remarks) is None:
        return
    sentences = [" ".join(each.split()) for each in sentences_of(own_remarks.replace("#", " "))]
    for number, sentence in enumerate(sentences[:MOST_SENTENCES]):
        before = sentences[number - 1] if number else ""
        if _DATA.search(sentence) is None and not (_DATA.search(before) is not None and _is_unsaved(before)):
            continue
        near = _NOT_IN.sub(" ", ". ".join(sentences[max(0, number - 1) : number + 2]))
        if _RESTART.search(near) is None or _GOES_ON.search(near) is not None:
            continue
        if _starts_over(sentence):
            message = "the data loader begins at the start of its order after every restart: the first samples are read again, and the last ones never"
            help_ = "save the state of the loader with the checkpoint, or skip the consumed samples"
            yield RULE.problem("description", message, help_)
            return


def _is_unsaved(sentence: str) -> bool:
    """Whether a sentence says that the position in the data is not saved."""
    unsaved = _UNSAVED.search(sentence)
    return unsaved is not None and _NEGATED.search(unsaved[0]) is not None


def _starts_over(sentence: str) -> bool:
    """Whether a sentence says that the data are read from their start again, other than for the next pass."""
    lost = _ONLY_MODEL.search(sentence) is not None or _is_unsaved(sentence)
    for match in islice((*_OVER.finditer(sentence), *_AGAIN.finditer(sentence)), MOST_SENTENCES):
        clause = clause_at(sentence, *match.span())
        if _OTHER_THING.search(clause) is not None:
            continue
        if lost or _NEXT_PASS.search(sentence) is None:
            return True
    return False
