"""A mapping has the same key twice.

## What it finds

Two entries of one mapping with the same key, anywhere in the file.

## Why it matters

YAML forbids it, but most loaders silently keep the last value. With `nodes: 64` near the top and `nodes: 32` further
down, a person reads the first and the program uses the second: every total differs by a factor of two.

## What to do

Keep the correct one.

## When to ignore it

Do not ignore it: one of the two values is wrong.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  nodes: 32
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  spare_nodes: 32
```

## Sources

- YAML 1.2.2, section 3.2.1.1, unique keys of a mapping: https://yaml.org/spec/1.2.2/#3211-nodes
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
