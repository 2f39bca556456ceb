"""The file that `extends` names cannot be used.

## What it finds

An `extends` that names a file which is missing, is outside the project, cannot be read, or extends itself through other
files. The project is the folder of `clusterspec.toml`, `pyproject.toml` or `.git`, else the spec's own folder.

## Why it matters

Every key that the file supplies is missing, so everything that depends on it is not checked.

## What to do

Correct the path, which is relative to the file that contains it. Copy files from elsewhere into the project, or create
an empty `clusterspec.toml` in the folder that holds both files.

## When to ignore it

Do not ignore it.

## Fires

```yaml extends
clusterspec: 1
extends: no-such-base.yaml
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
