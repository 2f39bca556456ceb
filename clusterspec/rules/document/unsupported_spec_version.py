"""The version of the format is missing or unsupported.

## What it finds

A missing `clusterspec:` key, or a version other than 1.

## Why it matters

The meaning of a key may change from one version to the next, so a file read as the wrong version gives wrong
figures.

## What to do

Write `clusterspec: 1` at the top. A newer version needs a newer program.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes `clusterspec: 1`, but the keys of the file may belong to another version.

## Fires

```yaml clusterspec
clusterspec: 2
cluster: {platform: dgx-h100, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- The format: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
