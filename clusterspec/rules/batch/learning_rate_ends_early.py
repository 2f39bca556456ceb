"""The schedule of the learning rate ends long before the run.

## What it finds

A step of the description or a comment at which the learning rate reaches zero or its minimum, below 70 % of the steps
that `tokens` need.

## Why it matters

Steps at a rate of zero change no weight. Schedules are given in steps, and another batch or sequence length changes how
many steps the tokens take.

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

## Silent

```yaml
clusterspec: 1
description: Cosine decay of the rate to zero at step 610,000.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 480, tokens: 1.2T}
```

## Sources

- Steps of the schedule beside samples and tokens: https://github.com/NVIDIA/Megatron-LM/blob/core_v0.12.0/megatron/training/arguments.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import number_in_text, only_setting
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_END_OF_RATE = pattern(
    r"(?i)\b(?:cosine|decay\w*|anneal\w*|rate|linear)\b[^.;]{0,80}?\b(?:zero|minimum|end)\b[^.;]{0,20}?\bsteps? ((?:\d{1,3}(?:,\d{3})+|\d{3,}))\b"
)
EARLY = 0.7
"""Share of the steps before whose end a schedule of the learning rate does not end on purpose."""


def check(own_remarks: str, workload: Workload) -> Iterator[Problem]:
    if not own_remarks or workload.kind != "train" or not workload.tokens:
        return
    match = only_setting(_END_OF_RATE, own_remarks, ("step",))
    steps = workload.tokens / (workload.global_batch * workload.sequence_length)
    if match is not None and number_in_text(match[1]) < EARLY * steps:
        message = (
            f"the learning rate ends at step {number_in_text(match[1]):,.0f}, and the tokens need {steps:,.0f} steps"
        )
        yield RULE.problem("workload.tokens", message, "end the schedule at the last step")
