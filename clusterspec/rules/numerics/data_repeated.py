"""The run repeats its data set many times.

## What it finds

`tokens` above 4 × `dataset_tokens`: a note. By the law of Muennighoff et al., R passes after the first are worth 15.4 ×
(1 − exp(−R / 15.4)) passes over new data. Where repetition wastes a quarter of the computation (from 12 passes on), the
finding is a warning, except for vocabularies below 10,000 (patches, codes, residues), since passes were measured on text. The rule applies where the spec states `dataset_tokens`.

## Why it matters

Up to four passes over the data are nearly as good as new data. With 16 passes a third of the computation is lost, with
30 a half; beyond 40, further passes gain nothing.

## What to do

Use more data, a smaller model or a shorter run.

## When to ignore it

Ignore it for fine-tuning with early stopping.

## Options

`thresholds = {data-repeated = 4.0}` in the configuration sets the number of passes above which the rule reports. The
default is 4.0. The warning has no threshold.

## Fires

```yaml workload.dataset_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 2T, dataset_tokens: 100B}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 2T, dataset_tokens: 500B}
layout: {tp: 1}
```

## Sources

- Passes over the data and their value: Muennighoff et al., https://arxiv.org/abs/2305.16264
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import A_QUARTER
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 4.0
LEAST_OF_TEXT = 10_000
"""Vocabulary size below which tokens are patches, codes or residues; repeated passes were measured only on text."""
DECAY = 15.39
"""Passes after which a further pass has 1/e of the value of new data: R* of Muennighoff et al., section 3.1."""


def check(thresholds: Thresholds, training: Workload, written_workload: WorkloadSpec) -> Iterator[Problem]:
    held = written_workload.dataset_tokens
    if held is None or training.tokens is None or held.value <= 0:
        return
    passes = training.tokens / held.value
    if passes <= thresholds.of(RULE.name, MOST):
        return
    worth = worth_of_passes(passes)
    lost = 1 - worth / passes
    of_text = not training.model.vocab or training.model.vocab >= LEAST_OF_TEXT
    severity = "warning" if of_text and lost >= A_QUARTER else "note"
    message = f"{display(training.tokens, '1')} tokens are {plain(passes, 2)} passes over a data set of {held.written}"
    worse = f", which are worth {plain(worth, 2)} over new data: {percent(lost, 2)} of the computation is lost"
    help_ = "use more data, or a shorter run"
    near = "; up to four are nearly as good as new data" if of_text else "; the worth of passes was measured on text"
    yield RULE.problem(
        "workload.dataset_tokens", message + (near if severity == "note" else worse), help_, severity=severity
    )


def worth_of_passes(passes: float) -> float:
    """Number of passes over new data that have the same value: 1 + R* (1 - exp(-(passes - 1) / R*)) (arXiv 2305.16264,
    equation 5).

    >>> [round(worth_of_passes(passes), 1) for passes in (1, 4, 16, 30)]
    [1.0, 3.7, 10.6, 14.1]
    """
    return float(1 + DECAY * (1 - exp(-(passes - 1) / DECAY)))
