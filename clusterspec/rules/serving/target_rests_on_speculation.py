"""The plan meets its target for the time per output token only with speculative decoding.

## What it finds

A `targets.tpot` that the plan meets with the stated speculative decoding and misses without it.

## Why it matters

The acceptance rate depends on the text: published rates range from 0.5 to 0.9, by model and subject. A figure with
speculative decoding is not comparable with a figure without it, and holds only for texts with that acceptance rate.

## What to do

Compare it only with figures for the same number of draft tokens and the same acceptance rate, and also state the figure
without speculative decoding.

## When to ignore it

Ignore it when the acceptance rate was measured on the users' own texts.

## Fires

```yaml workload.serving.speculative
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 3, acceptance: 0.7}, targets: {tpot: 8 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 3, acceptance: 0.7}, targets: {tpot: 40 ms}}}
layout: {tp: 8}
```

## Sources

- Speculative decoding and its acceptance: https://arxiv.org/abs/2211.17192
- Acceptance of multi-token prediction: https://arxiv.org/abs/2412.19437
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "note", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, target = served.load, served.load.tightest_target("tpot")
    if (
        target is None
        or not load.draft_tokens
        or latency_at(served.times, load, "tpot", target.percentile) > target.seconds
    ):
        return
    plain = served.with_load(speculative=None)
    if plain is None or latency_at(plain.times, load, "tpot", target.percentile) <= target.seconds:
        return
    yield RULE.problem(
        f"{LOAD}.speculative",
        f"the plan meets the target of {display(target.seconds, 's')} per output token only with {plural(load.draft_tokens, 'draft token')} at an "
        f"acceptance of {percent(load.draft_acceptance, 2)}: {display(served.times.tpot, 's')}, and {display(plain.times.tpot, 's')} without them",
        "state the acceptance with the figure, and compare it only with figures for speculative decoding",
    )
