"""The file does not say which version of the format it is written in, or says one that is not known.

## What it finds

A missing `clusterspec:` key, or a version other than 1.

## Why it matters

What a key means may change from one version to the next; a file read by the wrong rules gives wrong figures
with a straight face.

## What to do

Write `clusterspec: 1` at the top. A newer version needs a newer program.

## When to ignore it

Never.

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
