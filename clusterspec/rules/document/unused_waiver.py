"""A waiver matches no finding.

## What it finds

`# clusterspec: ignore[rule]: reason` where the rule does not fire: the flaw is gone, the name is misspelled, or the
comment is on another line than the finding.

## Why it matters

It would hide the finding if the flaw returns.

## What to do

Remove it, or move it to the line of the finding.

## When to ignore it

Ignore it in a base file if the rule fires in only some of the specs that extend it.

## Fix safety

The fix is safe: it deletes the rule from the waiver, or the whole waiver where no rule is left. No finding changes.

## Fires

```yaml .
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4  # clusterspec: ignore[shared-nic]: dual-rail by design
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

RULE = Rule.of(__name__, "note")
