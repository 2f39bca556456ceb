"""A waiver comment is malformed.

## What it finds

`# clusterspec: ignore` without a rule in brackets, or with an invalid date.

## Why it matters

It waives nothing, contrary to the intention of its author.

## What to do

Write `# clusterspec: ignore[rule]: reason`, with `until 2027-01-31` before the colon where the waiver should
expire; `ignore-file[rule]` at the top applies to the whole file.

## When to ignore it

Do not ignore it: remove the comment instead.

## Fires

```yaml .
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4  # clusterspec: ignore[]: because
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4  # clusterspec: see the rack plan
```

## Sources

- The form of a waiver: `clusterspec check --help`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")
