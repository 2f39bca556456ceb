"""A comment looks like a waiver and cannot be read as one.

## What it finds

`# clusterspec: ignore` without a rule in brackets, or with a date that is no date.

## Why it matters

It waives nothing, while its author believes that it does.

## What to do

Write `# clusterspec: ignore[rule]: reason`, with `until 2027-01-31` before the colon where the finding should come
back; `ignore-file[rule]` at the top speaks for the file.

## When to ignore it

Never: remove the comment instead.

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
