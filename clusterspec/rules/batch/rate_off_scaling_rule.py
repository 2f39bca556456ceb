"""A learning rate that a text scales with the batch does not follow the rule that the text names.

## What it finds

Two batches and two learning rates in a sentence that names linear or square-root scaling, where the rates have another
ratio than the batches, or their square root.

## Why it matters

A rate that is twice too high diverges or costs loss, and one that is too low costs tokens.

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

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_quantities import BARE, SEQUENCE, TOKEN, sentence_quantities
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("scal", "root", "skal", "échelle", "escal")
_LINEAR = pattern(r"(?i)\b(?:linear(?:ly)?|proportional\w*|linéaire\w*|lineal\w*)\b")
_ROOT = pattern(r"(?i)\b(?:square[- ]root|sqrt|root|wurzel\w*|racine|raíz)\b|√")
_RATE = pattern(r"(?i)(?<![\w.,])(\d(?:\.\d{1,3})?e-?\d|0\.0\d{1,6})(?!\w|\.\d)")
_BATCH = pattern(r"(?i)\b(?:batch\w*|lote)\b")
SAME = 0.12
"""Relative difference up to which two ratios are the same, their figures rounded."""


def check(own_remarks: str, training: Workload) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = own_remarks.casefold()
    if "batch" not in folded or not any(cue in folded for cue in _CUES):
        return
    for sentence, quantities in sentence_quantities(own_remarks):
        linear, root = _LINEAR.search(sentence) is not None, _ROOT.search(sentence) is not None
        if linear == root or _BATCH.search(sentence) is None:
            continue
        rates = [float(each) for each in _RATE.findall(sentence) if float(each) < 0.1]
        batches = [
            each.value
            for each in quantities
            if each.unit in (BARE, SEQUENCE, TOKEN) and each.value >= 8 and each.value % 1 == 0
        ]
        if len(rates) != 2 or len(batches) != 2 or batches[0] == batches[1] or not all(rates):
            continue
        ratio = batches[1] / batches[0]
        right = ratio if linear else math.sqrt(ratio)
        stated = rates[1] / rates[0]
        if abs(stated / right - 1) > SAME and abs(stated * right - 1) > SAME:
            rule = "linear" if linear else "square-root"
            message = f"the batches have the ratio {plain(ratio, 3)}, the rates {plain(stated, 3)}: {rule} scaling gives {rates[0] * right:.1e}"
            yield RULE.problem("description", message, "scale the rate again, or name the rule that was used")
            return
