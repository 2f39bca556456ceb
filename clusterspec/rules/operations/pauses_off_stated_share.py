"""Evaluation or checkpointing takes another share of the run than the text states.

## What it finds

- Validation at an interval of steps or tokens that takes at least twice the stated share of the time, or a fifth of the
  run where no share is stated. A token of validation takes a third of the compute of a training token.
- An evaluation or a checkpoint with a stated duration and interval that takes at least twice the stated share of the
  time.

The finding is an error where the text states a share, and a warning where it does not. Evaluation on other nodes, or in
parallel with the run, does not count.

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
from itertools import islice

from clusterspec.cluster.model import Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.quantities import (
    BARE,
    SECOND,
    SEQUENCE,
    SHARE,
    STEP,
    TOKEN,
    TextQuantity,
)
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.rules.readers.windows import Window, is_certain, is_real, windows
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
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
    "ckpt",
    "sav",
    "eval",
    "dump",
    "held",
    "dev set",
    "wert",
    "snapshot",
    "speicher",
    "enregistr",
    "sicher",
    "sauvegard",
    "évalu",
    "evalu",
    "guarda",
)
_EVALUATES = pattern(
    r"(?i)(?<![^\W_])(?:evaluat\w*|evals?|validat\w*|held-?out|perplexity|dev set|test set|validier\w*|auswertung|évaluat\w*|évalu\w*|evaluac\w*|validac\w*)(?![^\W_])|\bwert(?:et|en)\b[^.;]{0,60}\baus\b"
)
_SAVES = pattern(
    r"(?i)\b(?:checkpoint\w*|ckpts?|sav(?:es?|ed|ing)|dump\w*|flush\w*|sicher\w+|gesichert|speicher\w+|gespeichert|sauvegard\w*|enregistr\w*|guarda\w*|snapshots?)\b"
)
_EVERY = pattern(
    r"(?i)\b(?:every|each|per|pro|par|once (?:in|per)|once every|all(?:e|en)?|nach je|tous les|toutes les|cada|interval of|interval:?|abstand von|im takt von|cadence of|period of|(?:eval|save|checkpoint|ckpt|val|validation)[_-](?:interval|freq|every|steps?)(?: of|:| =|=)?)(?: the| further)? ?$"
)
_KEY = pattern(r"(?i)[_-](?:interval|freq|every|steps?)(?: of|:| =|=)? ?$")
_PERIOD = pattern(
    r"(?i)\b(?:(?P<adverb>hourly|half-hourly|stündlich\w*|halbstündlich\w*|daily|täglich\w*)|(?:once )?(?:every|each|per|an|pro|je|jede|(?P<times>twice|two times|zweimal|deux fois|dos veces) (?:an|a|per|each|every|pro|je|par|por)|einmal (?:pro|je)|par|chaque|por|cada|toutes les|a la|à l['’]) ?(?P<half>half(?: an)? |halbe |demi-|media )?"
    r"(?P<unit>hour|minute|day|stunde|minute|tag|heures?|jour|hora|minuto|día))\b"
)
_ADVERBS = {
    **dict.fromkeys(("hourly", "stündlich"), (3600.0, "hour")),
    **dict.fromkeys(("half-hourly", "halbstündlich"), (1800.0, "half hour")),
    **dict.fromkeys(("daily", "täglich"), (86400.0, "day")),
}
_STOPS = pattern(
    r"(?i)\b(?:takes?|lasts?|needs?|for|stops? for|pauses?(?: of| for)?|stands? still for|costs?|of|dauert|dure|prend|dura|tarda)(?: about| some| the| at least| at most| another)? ?$"
)
_OTHER_TIME = pattern(
    r"(?i)\b(?:kept|keeps?|retention|restarts?|restor\w*|load(?:s|ed|ing)?|recover\w*|timeout|failures?|mtbf|lost|hold back|neustart\w*|reprise|reinicio\w*)\b"
)
_SHARE = pattern(
    r"(?i)\b(?:takes?|costs?|adds?|loses?|lost|overhead|share|less than|under|below|at most|about|only|negligible|fraction|stalls?|stops?|steht|kostet|weniger als|unter|höchstens|anteil|co[uû]te|moins de|soit|cuesta|menos (?:de|del))\b"
)
_OF_TIME = pattern(
    r"(?i)^[^.;]{0,20}\b(?:\w*time|run|training|overhead|compute|wall|gpu|\w*zeit|laufs|temps|tiempo|entra[iî]nement|entrenamiento|throughput|step)\b"
)
_OVERHEAD = pattern(
    r"(?i)\b(?:overhead|stalls?|lost|loses?|loss of time|time|zeitverlust|aufwand|surcoût|temps perdu|sobrecoste)\b"
)
_NO_SHARE = pattern(
    r"(?i)\b(?:mfu|utili[sz]ation|goodput|availability|accuracy|loss falls|confidence|tokens|data|mixture)\b"
)
_IN_PARALLEL = pattern(
    r"(?i)\b(?:elsewhere|outside|other nodes|separate(?:ly)?|own nodes|spare|asynchron\w*|in parallel|background|concurrent\w*|beside|a second partition|another (?:cluster|partition|machine)|workstation|dedicated)\b"
)
_BATCHES = pattern(
    r"(?i)(?<![\w.,])(\d[\d,]{0,8}) (?:validation |evaluation |held-out |full )?(?:batches|eval(?:uation)? (?:steps|iterations|iters))\b"
)
FORWARD = (1 / 4, 1 / 2)
"""Compute of a validation token relative to a training token, least and most: a quarter with recomputed layers, a half
with frozen weights (usually a third).
"""
FAR, LARGE = 2.0, 0.2
"""Multiple of a stated share that rounding cannot explain, and the share that is reported if no share is stated."""


class Pause(NamedTuple):
    """The least and the usual seconds of a pause, relative to the seconds of training between two pauses, and the words
    of the text.
    """

    least: float
    usual: float
    words: str


def check(own_remarks: str, training: Workload, timed: Plan | None) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    found = [
        (window, pause)
        for window in windows(own_remarks, 3)
        if (pause := _pause(window, training, timed)) is not None and _IN_PARALLEL.search(window.text) is None
    ]
    stated = [(pause, share) for window, pause in found if (share := _stated_share(window)) is not None]
    wrong = next(((pause, share) for pause, share in stated if _share(pause.least) > FAR * share.value), None)
    if wrong is not None:
        yield _problem(wrong[0], wrong[1])
    elif not stated:
        large = (each for each in found if each[0].sentences == 1 and _share(each[1].least) > LARGE)
        alone = next((pause for window, pause in large if _EVALUATES.search(window.text) is not None), None)
        if alone is not None:
            yield _problem(alone, None)


def _share(ratio: float) -> float:
    """The share of the time that a pause takes, from its ratio to the training time between two pauses."""
    return ratio / (1 + ratio)


def _problem(pause: Pause, stated: TextQuantity | None) -> Problem:
    message = f"{pause.words} takes {percent(_share(pause.usual), 2)} of the time"
    message += f", not `{stated.words}`" if stated is not None else ""
    severity = "error" if stated is not None else "warning"
    return RULE.problem("description", message, "do it less often, or on a part of the data", severity=severity)


def _pause(window: Window, work: Workload, timed: Plan | None) -> Pause | None:
    """The pause of a recurring evaluation or checkpoint in a text; None unless the text states an interval and the
    tokens or time of one pause.
    """
    text, quantities = window.text, window.quantities
    evaluates = _EVALUATES.search(text) is not None
    intervals = _intervals(window)
    if (not evaluates and _SAVES.search(text) is None) or len(intervals) != 1:
        return None
    interval, batch = intervals[0], work.global_batch * work.sequence_length
    between = interval.value * batch if interval.unit == STEP else interval.value if interval.unit == TOKEN else None
    if evaluates and between and (read := _tokens_read(text, quantities, interval, work)):
        words = f"a validation of {read:,.0f} tokens every {between:,.0f} tokens of training"
        return Pause(FORWARD[0] * read / between, read / between / 3, words)
    time = _time_of_pause(window, interval)
    if time is None or not interval.value:
        return None
    if interval.unit == SECOND:
        seconds = (interval.value, interval.value)
    elif between and timed is not None and timed.step is not None and timed.step_time_range is not None:
        seconds = (between / batch * max(timed.step_time_range), between / batch * timed.step.seconds)
    else:
        return None
    return Pause(time.value / seconds[0], time.value / seconds[1], f"`{time.words}` every {interval.words}")


def _intervals(window: Window) -> list[TextQuantity]:
    """The intervals in a text: figures after `every` or after a key; without any, periods such as `hourly`."""
    found = []
    for each in window.quantities:
        before = window.text[max(0, each.start - 40) : each.start]
        if _EVERY.search(before) is None or not is_certain(window.text, each):
            continue
        if each.unit in (STEP, TOKEN, SECOND):
            found.append(each)
        elif each.unit == BARE and _KEY.search(before) is not None:
            found.append(each._replace(unit=STEP))
    return found or list(_periods(window.text))


def _periods(text: str) -> Iterator[TextQuantity]:
    """The intervals that a text states without a number.

    >>> [each.value for each in _periods("hourly; each minute; une par heure; jede halbe Stunde")]
    [3600.0, 60.0, 3600.0, 1800.0]
    """
    for match in islice(_PERIOD.finditer(text), MOST_MATCHES):
        adverb = (match["adverb"] or "").lower()
        seconds, words = next((each for word, each in _ADVERBS.items() if adverb.startswith(word)), (0.0, ""))
        if not adverb:
            seconds = TIME_WORDS[match["unit"].lower()] * (0.5 if match["half"] or match["times"] else 1)
            words = ("half " if match["half"] or match["times"] else "") + match["unit"]
        yield TextQuantity(seconds, SECOND, match.start(), match.end(), words, seconds)


def _time_of_pause(window: Window, interval: TextQuantity) -> TextQuantity | None:
    """The time for which training stops: the only time that a text describes so, else the only other time below the
    interval; else None.
    """
    times = [
        each
        for each in window.quantities
        if each.unit == SECOND
        and each is not interval
        and _OTHER_TIME.search(clause_at(window.text, each.start, each.end)) is None
        and is_certain(window.text, each)
    ]
    named = [each for each in times if _STOPS.search(window.text[max(0, each.start - 40) : each.start])]
    below = [each for each in times if interval.unit != SECOND or each.value < interval.value]
    found = named if len(named) == 1 else below
    return found[0] if len(found) == 1 and found[0] in below else None


def _tokens_read(
    sentence: str, quantities: tuple[TextQuantity, ...], interval: TextQuantity, work: Workload
) -> float | None:
    """Tokens of one validation, from the size of a set or a number of sequences or batches; None if not stated."""
    batch = work.global_batch * work.sequence_length
    sets = [
        each.value * (work.sequence_length if each.unit == SEQUENCE else 1)
        for each in quantities
        if each.unit in (TOKEN, SEQUENCE)
        and each is not interval
        and not _EVERY.search(sentence[max(0, each.start - 40) : each.start])
    ]
    if len(sets) == 1:
        return sets[0] if sets[0] not in (batch, work.sequence_length) else None
    batches = _BATCHES.search(sentence) if not sets else None
    return float(batches[1].replace(",", "")) * batch if batches is not None else None


def _stated_share(window: Window) -> TextQuantity | None:
    """The share of the time that a text states for the pause; None if it states none or several."""
    found = []
    for each in window.quantities:
        before = window.text[max(0, each.start - 40) : each.start]
        behind, clause = window.text[each.end :], clause_at(window.text, each.start, each.end)
        if (
            each.unit != SHARE
            or not each.value
            or _NO_SHARE.search(behind[:24]) is not None
            or not is_real(window.text, each)
        ):
            continue
        of_time = _OF_TIME.search(behind) is not None
        if of_time or (_SHARE.search(before) is not None and _OVERHEAD.search(clause) is not None):
            found.append(each)
    return found[0] if len(found) == 1 else None
