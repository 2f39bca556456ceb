"""A key is not part of the format in its section.

## What it finds

A key that version 1 of the format does not have there: a misspelling (`nic_per_node`), or a key that
belongs elsewhere (`tp` under `workload`). A key at most two letters away is offered.

## Why it matters

A misspelled key is ignored: with `oversubcription: 4:1` the fabric counts as 1:1, and every collective between nodes
is predicted four times too fast.

## What to do

Rename it to the right key. Put remarks into a comment or `description`.

## When to ignore it

Do not ignore it for figures. Put data for other programs into a separate file.

## Fix safety

The fix renames the key. It is safe where exactly one key of the section has a similar name and is not used yet. It is
unsafe where the name is a key of another program, whose value may mean something else.

## Fires

```yaml cluster.nodez
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, nodez: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, spare_nodes: 4}
```

## Sources

- The keys of the format: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
