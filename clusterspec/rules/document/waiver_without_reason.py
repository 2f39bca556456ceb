"""A waiver has no reason.

## What it finds

`# clusterspec: ignore[rule]` without `: reason`. It waives nothing.

## Why it matters

A later reader cannot tell a justified exception from a shortcut.

## What to do

Append the reason: `# clusterspec: ignore[shared-nic]: dual-rail by design`.

## When to ignore it

Do not ignore it.

## Fires

```yaml .
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}  # clusterspec: ignore[shared-nic]
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}  # clusterspec: ignore[shared-nic]: dual-rail by design
```

## Sources

- The form of a waiver: `clusterspec check --help`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")
