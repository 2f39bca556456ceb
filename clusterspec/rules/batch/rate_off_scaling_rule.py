"""A learning rate that a text scales with the batch does not follow the rule that the text names.

## What it finds

Two batches and two learning rates in a sentence that names linear or square-root scaling, where the ratio of the rates
differs from the ratio of the batches (linear) or from its square root.

## Why it matters

A rate that is twice too high makes the run diverge or raises its loss; a rate that is too low needs more tokens.

## What to do

Multiply the rate by the ratio of the batches, or by its square root.

## When to ignore it

Ignore it where the rate was tuned instead.

## Fires

```yaml description
clusterspec: 1
description: The batch grows from 512 to 1,024 sequences, so by linear scaling the rate goes from 3e-4 to 1.2e-3.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Silent

```yaml
clusterspec: 1
description: The batch grows from 512 to 1,024 sequences, so by linear scaling the rate goes from 3e-4 to 6e-4.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Sources

- Linear scaling: P. Goyal et al., Accurate, Large Minibatch SGD, https://arxiv.org/abs/1706.02677
- Square-root scaling with Adam: S. Malladi et al., On the SDEs and Scaling Rules for Adaptive Gradient Algorithms, https://arxiv.org/abs/2205.10287


"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.quantities import BARE, SEQUENCE, TOKEN
from clusterspec.rules.readers.windows import Window, windows
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "scal",
    "root",
    "sqrt",
    "√",
    "rule",
    "proportion",
    "∝",
    "skal",
    "wurzel",
    "regel",
    "linear",
    "racine",
    "règle",
    "raíz",
    "regla",
)
_LINEAR = pattern(
    r"(?i)\blinear(?:ly|e[nrms]?)? (?:(?:lr|learning[- ]rate|batch) )?(?:scal\w*|rule|skal\w*|regel)|\bs[ck]al\w* (?:the (?:rate|lr) )?linear\w*|\blinear\w* with (?:the )?batch|"
    r"\bproportional\w*|∝ ?(?:the )?batch|\brègle linéaire|\blinéairement|\bescal\w* lineal\w*|\bregla lineal|\bscaled? 1:1"
)
_ROOT = pattern(r"(?i)\b(?:square[- ]?root|sqrt|root|\w*wurzel\w*|racine|raíz)(?![^\W_])|√")
_RATE = pattern(
    r"(?i)(?<![\w.,])(\d(?:[.,]\d{1,3})? ?e ?[-−–] ?\d|\d(?:[.,]\d{1,3})? ?[x×·*] ?10 ?\^? ?[-−–]\d|0[.,]0\d{1,6})(?!\w|[.,]\d)"
)
_POWER = pattern(r" ?(?:e|[x×·*] ?10 ?\^?) ?[-−–] ?")
_BATCH = pattern(r"(?i)\b(?:batch\w*|sequences|sequenzen|lote|lot|séquences|secuencias)\b")
_VERBS = {
    **dict.fromkeys(("doubl", "verdoppel", "dupli"), 2.0),
    **dict.fromkeys(("tripl", "verdreifach"), 3.0),
    **dict.fromkeys(("quadrupl", "vervierfach", "cuadrupli"), 4.0),
    **dict.fromkeys(("halv", "halbier"), 0.5),
}
"""The factor that each verb states; the keys are verb stems."""
_MULTIPLE = pattern(
    r"(?i)\b(?:(?P<verb>doubl|tripl|quadrupl|halv|verdoppel|verdreifach|vervierfach|halbier|dupli|cuadrupli)\w*\b|(?P<before>\d{1,3}) ?[x×](?= (?:larger|bigger|the|as|batch|größer))|"
    r"(?P<after>(?<= by )\d|(?<=batch x )\d{1,2}|(?<=batch × )\d{1,2}|(?<= factor of )\d{1,2}))"
)
_NOT_SCALED = pattern(
    r"(?i)\b(?:tuned|deviat\w*|instead of scaling|not (?:follow|scale)\w*|without scaling|adjusted by hand)\b"
)
SAME = 0.12
"""Relative difference up to which two ratios of rounded figures are equal."""


def check(own_remarks: str, training: Workload) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    for window in windows(own_remarks, 2):
        linear, root = _LINEAR.search(window.text) is not None, _ROOT.search(window.text) is not None
        if linear == root or not _names_batch(window, training) or _NOT_SCALED.search(window.text) is not None:
            continue
        rates = rates_of(window.text)
        ratio = _batch_ratio(window)
        if len(rates) != 2 or ratio is None or not all(rates):
            continue
        right = ratio if linear else math.sqrt(ratio)
        stated = rates[1] / rates[0]
        if abs(stated / right - 1) > SAME and abs(stated * right - 1) > SAME:
            rule = "linear" if linear else "square-root"
            message = f"the batches have the ratio {plain(ratio, 3)}, the rates {plain(stated, 3)}: {rule} scaling gives {rates[0] * right:.1e}"
            yield RULE.problem("description", message, "scale the rate again, or name the rule that was used")
            return


def _names_batch(window: Window, training: Workload) -> bool:
    """Whether a text is about batches: it uses the word, or a bare number equal to the plan's global batch."""
    own = any(each.unit == BARE and each.value == training.global_batch for each in window.quantities)
    return own or _BATCH.search(window.text) is not None


def rates_of(text: str) -> list[float]:
    """The learning rates of a text, all below 0.1.

    >>> rates_of("from 3e-4 to 1.2e-3; 0,0003; 2 x 10^-4; 0.5")
    [0.0003, 0.0012, 0.0003, 0.0002]
    """
    found = [each.replace(",", ".") for each in islice(_RATE.findall(text), MOST_MATCHES)]
    return [value for each in found if (value := float(_POWER.sub("e-", each))) < 0.1]


def _batch_ratio(window: Window) -> float | None:
    """The ratio of the two batches of a text, from their sizes or from a word such as `doubled`; None if the text gives
    neither.
    """
    batches = [
        each.value
        for each in window.quantities
        if each.unit in (BARE, SEQUENCE, TOKEN) and each.value >= 8 and each.value % 1 == 0
    ]
    if len(batches) == 2 and batches[0] != batches[1]:
        return batches[1] / batches[0]
    multiple = _MULTIPLE.search(window.text)
    if multiple is None or len(batches) > 1:
        return None
    verb = (multiple["verb"] or "").lower()
    return _VERBS[verb] if verb else float(multiple["before"] or multiple["after"])
