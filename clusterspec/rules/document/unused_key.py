"""A key is read, and nothing uses it yet.

## What it finds

A key of the format that no check, no estimate and no report uses in this version of the program: the number of switches
of a level, and the technology of the networks beside the scale-out fabric.

## Why it matters

What it says has no effect: a plan that relies on it is not being checked for it.

## What to do

Leave it if it documents something; do not rely on it.

## When to ignore it

When the key is there for people.

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
