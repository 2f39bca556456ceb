"""The schedule of the learning rate does not end where the run ends.

## What it finds

The description or a comment states the step, or the number of tokens, at which the learning rate reaches zero or its
minimum, and this is below 70 % of the steps that `tokens` need (90 % where the rate reaches zero), or above 130 % of
them. Where the text says that the schedule ends with the run, any difference above 3 % is reported. A rate that stays
at its minimum for the rest of the run is accepted, as is a decay over the last part of it.

## Why it matters

Steps at a rate of zero change no weights, and steps at the minimum change them little. A run that is shorter than its
schedule ends at a high rate, and with a higher loss than after the decay. Schedules count steps, and a changed batch or
sequence length changes how many steps the tokens take.

## What to do

Compute the steps from `tokens`, `global_batch` and `sequence_length`, and end the schedule there.

## When to ignore it

Ignore it where the run goes on at the minimum rate on purpose.

## Fires

```yaml workload.tokens
clusterspec: 1
description: Cosine decay of the rate to zero at step 150,000.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 480, tokens: 1.2T}
```

```yaml workload.tokens
clusterspec: 1
description: Cosine over 6 T tokens.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 480, tokens: 1.2T}
```

## Silent

```yaml
clusterspec: 1
description: Cosine decay of the rate to zero at step 610,000.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 480, tokens: 1.2T}
```

## Sources

- Steps of the schedule, samples and tokens: https://github.com/NVIDIA/Megatron-LM/blob/core_v0.12.0/megatron/training/arguments.py


"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.plans.schedules import (
    DECAY,
    SchedulePart,
    end_of_schedule,
    schedule_parts,
    steps_of_run,
)
from clusterspec.rules.readers.quantities import STEP
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "cosin",
    "lr-decay",
    "kosin",
    "coseno",
    "decay",
    "anneal",
    "rate",
    "lr ",
    "floor",
    "linear",
    "cool",
    "taux",
    "décroi",
    "tasa",
    "decae",
    "sinkt",
    "fällt",
)
_OF_RATE = pattern(
    r"(?i)(?<![^\W_])(?:cosine|cosinus|kosinus\w*|coseno|decay\w*|anneal\w*|cool(?:s|ed|ing)?-?down|linear\w*|rate|lr|curve|schedule|scheduler|lr[-_]decay[-_]\w+|lernrate|kurve|taux|courbe|tasa)(?![^\W_])"
)
_REACHED = pattern(
    r"(?i)(?<![^\W_])(?:zero|to 0|anneal\w*|minimum|min|end(?:s|ed)?|null|ende|zéro|fin|final|cero|mínimo|cosine|cosinus|kosinus\w*|coseno|decay\w*|decae|décroi\w+|linear\w*|falls?|floor|lr[-_]decay[-_]\w+|sinkt|fällt)(?![^\W_])"
)
_WITH_RUN = pattern(
    r"(?i)\b(?:last (?:token|step|batch)|final (?:token|step|batch)|end of (?:the )?(?:run|training)|(?:whole|entire|full|complete) (?:run|training)|"
    r"ends? with (?:the )?(?:run|training|tokens|data)|ende des (?:laufs|trainings)|letzten (?:token|schritt)|ganzen lauf|fin (?:de l'entra[iî]nement|du run|del entrenamiento)|dernier (?:token|jeton))\b"
)
_HOLDS = pattern(
    r"(?i)\b(?:stays?|held|holds?|kept|keeps?|remains?|continues?|constant|flat|goes on|runs on|thereafter|afterwards|bleibt|reste|permanece|se mantiene)\b"
)
_TO_ZERO = pattern(r"(?i)\b(?:zero|null|zéro|cero)\b|\bto 0\b")
_CONSTANT_LATER = pattern(
    r"(?i)\b(?:restart\w*|cycles?|cyclic|re-?warm\w*|two|three|second|phase|stage|longer|extended?|resum\w+|branch\w*|ran|before|earlier|previous\w*)\b"
)
"""Pattern of words that mark a schedule with several parts, where a sentence may name the end of one part only."""
_NO_DECAY = pattern(
    r"(?i)\b(?:not?|without|instead of|kein\w*|pas de|sin)(?: an?| the)? (?:cosine|linear|decay|anneal|cool)"
)
EARLY, LATE = 0.7, 1.3
"""Ends of a learning-rate schedule, as shares of the run: an end before `EARLY` or after `LATE` is reported."""
EARLY_ZERO = 0.9
"""A rate that reaches zero before this share of the run is never intended: later steps would not change the weights."""
WITH_RUN = 0.03
"""Relative difference up to which a schedule ends together with the run, figures being rounded."""


def check(own_remarks: str, workload: Workload) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded, steps = own_remarks.casefold(), steps_of_run(workload)
    if steps is None or not any(cue in folded for cue in _CUES):
        return
    batch = workload.global_batch * workload.sequence_length
    read = [*schedule_parts(own_remarks)]
    sentences = {
        each.sentence: [part for part in read if part.sentence == each.sentence] for each in read if _ends_decay(each)
    }
    if len(sentences) != 1:
        return
    found = end_of_schedule(next(iter(sentences.values())), batch)
    if found is None:
        return
    at, end = found
    _, _, after = own_remarks.partition(end.quantity.words)
    run = steps
    ratio, next_words = at / run, end.sentence + after[:160]
    with_run = _WITH_RUN.search(next_words) is not None
    if with_run and abs(ratio - 1) <= WITH_RUN:
        return
    holds = _HOLDS.search(next_words) is not None and _TO_ZERO.search(end.sentence) is None
    early = EARLY_ZERO if _TO_ZERO.search(end.sentence) is not None else EARLY
    if not with_run and (early <= ratio <= LATE or holds or (ratio > LATE and _CONSTANT_LATER.search(next_words))):
        return
    if end.quantity.unit == STEP:
        message = f"the learning rate ends at step {at:,.0f}, but the tokens need {steps:,.0f} steps"
    else:
        message = f"the learning rate ends at {display(at * batch, '1')} tokens, but the run has {display(workload.tokens or 0.0, '1')}"
    yield RULE.problem("workload.tokens", message, "end the schedule at the last step")


def _ends_decay(part: SchedulePart) -> bool:
    """Whether a part of a schedule is the end of the whole decay, and not of one of its phases."""
    if part.part != DECAY or part.is_last or part.quantity.value < 100 or _OF_RATE.search(part.sentence) is None:
        return False
    return _REACHED.search(part.sentence) is not None and _NO_DECAY.search(part.sentence) is None
