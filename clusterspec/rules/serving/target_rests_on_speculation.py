"""The target for the time per output token is met with speculative decoding only.

## What it finds

A `targets.tpot` that is met with the drafted tokens and the acceptance of the spec, and missed without them.

## Why it matters

Acceptance depends on the text: published figures range from 0.5 to 0.9 with model and subject. A speculative figure
does not compare with a plain one of another machine, and a contract on it holds only for texts with that acceptance.

## What to do

Compare speculative figures with speculative ones of the same drafted tokens and acceptance, and state the plain
figure beside them.

## When to ignore it

Where the acceptance was measured on the users' own texts.

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

from clusterspec.cost.serving.targets import tpot_at
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, plural, say

RULE = Rule.of(__name__, "note", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, target = served.load, served.load.tpot_target
    if target is None or not load.draft_tokens or tpot_at(served.times, load) > target:
        return
    plain = served.with_load(speculative=None)
    if plain is None or tpot_at(plain.times, load) <= target:
        return
    yield RULE.problem(
        f"{LOAD}.speculative",
        f"the target of {say(target, 's')} per output token is met with {plural(load.draft_tokens, 'drafted token')} of which "
        f"{percent(load.draft_acceptance, 2)} are accepted ({say(served.times.tpot, 's')}), and missed without ({say(plain.times.tpot, 's')})",
        "state the acceptance beside the figure, and compare it with speculative figures only",
    )
