"""A value is not one of the choices of its key.

## What it finds

A value such as `schedule: interlaced` or `sharding: zero3` that is not a choice of its key. The
closest choices are offered.

## Why it matters

A program that ignores a misspelled word uses its default. `sharding: zero3` read as the default `zero1` gives a
70.6B model on 64 ranks 437 GB of states per rank instead of 19.9 GB.

## What to do

Use one of the listed choices. ZeRO stage 3 is called `fsdp` here, ZeRO++ with a secondary partition `hsdp`.

## When to ignore it

Do not ignore it. `unknown-catalog-id` reports names that the catalog does not have.

## Fix safety

The fix is safe where the word differs from one choice in case, spaces or punctuation alone (`BF16`, `fat tree`). Otherwise
it is unsafe: it writes the closest choice, and the author may have meant another one.

## Fires

```yaml layout.schedule
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: 8, pp: 2, schedule: interlaced, virtual_stages: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: 8, pp: 2, schedule: interleaved, virtual_stages: 2}
```

## Sources

- The choices of each key: `clusterspec schema`
- ZeRO stages and what each one shards: https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
