"""A name is not in the catalog.

## What it finds

A `platform`, `accelerator`, `interconnect`, `technology`, `switch` or `model` that the catalog does not have. The three
nearest ids are offered. A name of exactly one entry (`gaudi-3`, `DGX H100`, `p5.48xlarge`) is a note, and the rest is
checked with that entry.

## Why it matters

Bandwidth, memory and peak of the part are unknown, and everything that depends on them is not checked.

## What to do

Use one of the ids in the message (`clusterspec catalog search WORD` finds others). For a part that the catalog lacks,
start from a similar one (`accelerator: {like: h100-sxm-80gb, memory: 96 GB}`), or bring a catalog of your own with
`--catalog`.

## When to ignore it

Do not ignore it: state the figures instead of the name.

## Fix safety

The fix is unsafe: it writes the id that is clearly nearest, which may be another part.

## Fires

```yaml cluster.platform
clusterspec: 1
cluster: {platform: dgx-h1000, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- All entries: `clusterspec catalog list`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
