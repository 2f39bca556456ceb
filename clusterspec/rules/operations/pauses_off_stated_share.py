"""Evaluation or saving takes another share of the run than the text states.

## What it finds

- Validation every so many steps or tokens on a set whose tokens, at a third of the compute of a training token, take at
  least twice the share of the time that the text states, or a fifth of the run where it states none.
- An evaluation or a saved checkpoint of a stated time, every so many minutes or steps, whose share of the time is at least
  twice the stated one.

A share that the text states is an error, and one that it does not state a warning. Evaluation on other nodes, or in parallel with
the run, is not read.

## Why it matters

Training stops during validation. A forward pass takes a third of the time of a training step for each token, so a
validation set of as many tokens as are trained between two evaluations takes a quarter of the whole time.

## What to do

Evaluate less often, or on a part of the set.

## When to ignore it

Ignore it where other nodes evaluate.

## Fires

```yaml description
clusterspec: 1
description: Every 50 steps the nodes compute the loss on a validation set of 250 M tokens, which takes less than 2 % of the time.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512, tokens: 1T}
```

```yaml description
clusterspec: 1
description: Training stops for 90 s at each checkpoint, every 15 minutes, which costs less than 2 % of the time.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512, tokens: 1T}
```

## Silent

```yaml
clusterspec: 1
description: Every 1,000 steps the nodes compute the loss on a validation set of 50 M tokens, which takes about 1 % of the time.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512, tokens: 1T}
```

## Sources

- Two FLOP per parameter and token forward, four backward: J. Kaplan et al., Scaling Laws for Neural Language Models, section 2.1, https://arxiv.org/abs/2001.08361
- The options `eval_interval` and `eval_iters`: https://github.com/NVIDIA/Megatron-LM/blob/core_v0.12.0/megatron/training/arguments.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_quantities import (
    SECOND,
    SEQUENCE,
    SHARE,
    STEP,
    TOKEN,
    TextQuantity,
    is_own,
    sentence_quantities,
)
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "evaluat",
    "validat",
    "valid",
    "held-out",
    "perplexity",
    "checkpoint",
    "sav",
    "sicher",
    "sauvegard",
    "évalu",
    "evalu",
    "guarda",
)
_EVALUATES = pattern(
    r"(?i)\b(?:evaluat\w*|validat\w*|held-?out|perplexity|dev set|test set|validier\w*|auswertung|évaluat\w*|évalu\w*|evaluac\w*|validac\w*|eval)\b"
)
_SAVES = pattern(r"(?i)\b(?:checkpoint\w*|sav(?:es?|ed|ing)|sicher\w+|sauvegard\w*|guarda\w*|snapshots?)\b")
_EVERY = pattern(
    r"(?i)\b(?:every|each|once (?:in|per)|once every|all(?:e|en)?|nach je|tous les|toutes les|cada|interval of|eval[_-]interval(?: of|:)?)(?: the| further)? ?$"
)
_STOPS = pattern(
    r"(?i)\b(?:takes?|lasts?|needs?|for|stops? for|pauses?(?: of| for)?|stands? still for|costs?|of|dauert|dure|prend|dura|tarda)(?: about| some| the| at least| at most| another)? ?$"
)
_SHARE = pattern(
    r"(?i)\b(?:takes?|costs?|adds?|loses?|overhead|share|less than|under|below|at most|about|only|kostet|weniger als|unter|co[uû]te|moins de|cuesta|menos (?:de|del))\b"
)
_OF_TIME = pattern(
    r"(?i)^[^.;]{0,20}\b(?:time|run|training|overhead|compute|wall|gpu|zeit|rechenzeit|laufs|temps|tiempo|entra[iî]nement|entrenamiento)\b"
)
_IN_PARALLEL = pattern(
    r"(?i)\b(?:elsewhere|other nodes|separate(?:ly)?|own nodes|spare|asynchron\w*|in parallel|background|concurrent\w*|beside|a second partition|another (?:cluster|partition|machine)|workstation|dedicated)\b"
)
_BATCHES = pattern(
    r"(?i)(?<![\w.,])(\d[\d,]{0,8}) (?:validation |evaluation |held-out |full )?(?:batches|eval(?:uation)? (?:steps|iterations|iters))\b"
)
FORWARD = (1 / 4, 1 / 2)
"""Compute of a token of validation over that of a token of training: a third, a quarter with recomputed layers, a half with
frozen weights."""
FAR, LARGE = 2.0, 0.2
"""Multiple of a stated share that no rounding explains, and a share that is reported without a stated one."""


class Pause(NamedTuple):
    """Least and usual seconds of a pause over the seconds of training between two of them, and the words of the text."""

    least: float
    usual: float
    words: str


def check(own_remarks: str, training: Workload, timed: Plan | None) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    read = sentence_quantities(own_remarks)
    for number, (sentence, quantities) in enumerate(read):
        pause = None if _IN_PARALLEL.search(sentence) is not None else _pause(sentence, quantities, training, timed)
        if pause is None:
            continue
        stated = next(
            (share for where, found in read[number : number + 2] if (share := _stated_share(where, found)) is not None),
            None,
        )
        least = pause.least / (1 + pause.least)
        usual = percent(pause.usual / (1 + pause.usual), 2)
        if stated is not None and least > FAR * stated.value:
            message = f"{pause.words} takes {usual} of the time, not `{stated.words}`"
        elif stated is None and least > LARGE and _EVALUATES.search(sentence) is not None:
            message = f"{pause.words} takes {usual} of the time"
        else:
            continue
        severity = "error" if stated is not None else "warning"
        yield RULE.problem("description", message, "do it less often, or on a part of the data", severity=severity)
        return


def _pause(sentence: str, quantities: tuple[TextQuantity, ...], work: Workload, timed: Plan | None) -> Pause | None:
    """What a sentence says of an evaluation or a saved checkpoint that comes again and again; None without both an interval
    and the tokens or the time of it.
    """
    evaluates = _EVALUATES.search(sentence) is not None
    if not evaluates and _SAVES.search(sentence) is None:
        return None
    every = [each for each in quantities if _EVERY.search(sentence[: each.start]) and is_own(sentence, each)]
    intervals = [each for each in every if each.unit in (STEP, TOKEN, SECOND)]
    if len(intervals) != 1:
        return None
    interval, batch = intervals[0], work.global_batch * work.sequence_length
    between = interval.value * batch if interval.unit == STEP else interval.value if interval.unit == TOKEN else None
    if evaluates and between and (read := _tokens_read(sentence, quantities, interval, work)):
        words = f"a validation of {read:,.0f} tokens every {between:,.0f} tokens of training"
        return Pause(FORWARD[0] * read / between, read / between / 3, words)
    times = [
        each
        for each in quantities
        if each.unit == SECOND
        and each is not interval
        and _STOPS.search(sentence[max(0, each.start - 40) : each.start])
    ]
    if len(times) != 1 or not interval.value:
        return None
    if interval.unit == SECOND:
        seconds = (interval.value, interval.value)
    elif between and timed is not None and timed.step is not None and timed.step_time_range is not None:
        seconds = (between / batch * max(timed.step_time_range), between / batch * timed.step.seconds)
    else:
        return None
    words = f"`{times[0].words}` every {interval.words}"
    return Pause(times[0].value / seconds[0], times[0].value / seconds[1], words)


def _tokens_read(
    sentence: str, quantities: tuple[TextQuantity, ...], interval: TextQuantity, work: Workload
) -> float | None:
    """Tokens of one validation: of a set, or of a number of sequences or batches; None where the sentence names none."""
    batch = work.global_batch * work.sequence_length
    sets = [
        each.value * (work.sequence_length if each.unit == SEQUENCE else 1)
        for each in quantities
        if each.unit in (TOKEN, SEQUENCE) and each is not interval and not _EVERY.search(sentence[: each.start])
    ]
    if len(sets) == 1:
        return sets[0] if sets[0] not in (batch, work.sequence_length) else None
    batches = _BATCHES.search(sentence) if not sets else None
    return float(batches[1].replace(",", "")) * batch if batches is not None else None


def _stated_share(sentence: str, quantities: tuple[TextQuantity, ...]) -> TextQuantity | None:
    """The share of the time that a sentence states for the pause."""
    for each in quantities:
        before = sentence[max(0, each.start - 40) : each.start]
        if (
            each.unit == SHARE
            and _SHARE.search(before) is not None
            and _OF_TIME.search(sentence[each.end :]) is not None
        ):
            return each
    return None
