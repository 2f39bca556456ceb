"""A waiver's date has passed.

## What it finds

`# clusterspec: ignore[rule] until 2026-01-31: reason` after that day (`--today` sets the day). It no longer waives the
finding.

## Why it matters

The waiver was meant to be reviewed by then.

## What to do

Correct the waived fault, or give the waiver a new date and a valid reason.

## When to ignore it

Do not ignore it.

## Fires

```yaml .
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}  # clusterspec: ignore[shared-nic] until 2020-01-31: second NIC comes later
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}  # clusterspec: ignore[shared-nic] until 2099-01-31: second NIC comes later
```

## Sources

- The form of a waiver: `clusterspec check --help`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")
