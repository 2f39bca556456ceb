"""The run repeats its data set many times.

## What it finds

`tokens` above 4 × `dataset_tokens`: a note, and a warning above 16 times. The rule applies where the spec states
`dataset_tokens`.

## Why it matters

Up to four passes over the data are nearly as good as new data. Beyond 16 the gain of further passes is small, and past
40 there is none.

## What to do

Use more data, a smaller model or a shorter run.

## When to ignore it

Ignore it for fine-tuning with early stopping.

## Options

`thresholds = {data-repeated = 4.0}` in the configuration sets the number of passes above which the rule reports. The
default is 4.0. The warning from 16 passes on has no threshold.

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

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 4.0
MUCH = 16.0


def check(thresholds: Thresholds, training: Workload, written_workload: WorkloadSpec) -> Iterator[Problem]:
    held = written_workload.dataset_tokens
    if held is None or training.tokens is None or held.value <= 0:
        return
    passes = training.tokens / held.value
    if passes > thresholds.of(RULE.name, MOST):
        message = f"{display(training.tokens, '1')} tokens are {plain(passes, 2)} passes over a data set of {held.written}; up to four are nearly as good as new data"
        severity = "warning" if passes > MUCH else "note"
        yield RULE.problem("workload.dataset_tokens", message, "use more data, or a shorter run", severity=severity)
