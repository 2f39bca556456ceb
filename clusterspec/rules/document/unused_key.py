"""A key is valid but not used yet.

## What it finds

A key of the format that no check, no estimate and no report uses in this version of the program: the number of switches
of a level, and the technology of networks other than the scale-out fabric.

## Why it matters

Its value has no effect on checks, estimates and reports.

## What to do

Keep it as documentation, but do not rely on it.

## When to ignore it

Ignore it where the key serves as documentation.

## Fires

```yaml cluster.networks.storage.technology
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, networks: {storage: {technology: ethernet, bandwidth: 10 GB/s}}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- The keys that are not used yet are marked in the schema: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note")
