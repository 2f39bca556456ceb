"""The description says that something is done in another way than the keys.

## What it finds

A `description` that states the choice of a key, in words, where the key states another one: the cache in 16 bits, checkpoints
that are written in the background, PFC that is off, racks that are air-cooled, a pipeline that is interleaved, amounts in Swiss
francs, a job that goes on with fewer nodes. The words of about 30 keys are known in nine languages, as far as they were
needed (`tests/rules/plain_statements/choices.txt`).

A key is skipped where the text names its choice anywhere without ruling it out, or two others. Sentences with `would`, about trials,
neighbors and other times are not read. In a text that also speaks of another machine, order, offer or party, the finding is a note.

## Why it matters

One of the two is wrong, and what the check and the estimate say follows the keys.

## What to do

Correct the text or the key.

## When to ignore it

Ignore it where the text describes another machine or run.

## Fires

```yaml description
clusterspec: 1
description: Every half hour a checkpoint is written in the background.
cluster: {platform: dgx-h100, nodes: 16}
operations:
  checkpoint: {interval: 30 min, mode: synchronous}
```

```yaml description
clusterspec: 1
description: Keys and values stay in 16 bits.
cluster: {platform: dgx-h200, nodes: 2}
workload:
  kind: serve
  model: llama-3.1-70b
  kv_precision: fp8
  serving: {input_tokens: 2000, output_tokens: 300, concurrency: 64}
layout: {framework: vllm, tp: 4, dp: 4}
```

## Silent

```yaml
clusterspec: 1
description: Checkpoints are written in the background; during a trial they were written synchronously.
cluster: {platform: dgx-h100, nodes: 16}
operations:
  checkpoint: {interval: 30 min, mode: asynchronous}
```

## Sources

- The keys that state these choices: docs/spec.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Confidence, Problem
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.statements.choices import wrong_choices
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec

RULE = Rule.of(__name__, "warning", "likely")


def check(description: str, spec: Spec) -> Iterator[Problem]:
    if spec.pools or spec.jobs:
        return
    for each in wrong_choices(description[:MOST_CHARACTERS], spec):
        message = f"the description says `{each.words}`, but `{each.key}` is {each.value}"
        yield RULE.problem("description", message, "correct the text or the key", confidence=Confidence.CERTAIN)
