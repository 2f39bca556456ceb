"""A section lacks a key that nothing else supplies.

## What it finds

A section that is there but cannot be worked out: a cluster without `nodes`, or with neither `platform` nor
`accelerator`; a workload without `model`, `sequence_length` or, for training, `global_batch`. A key counts
as supplied when `extends`, the platform, the accelerator's entry or a stated default gives it.

## Why it matters

Everything that rests on the key goes unchecked. A workload without its batch has no number of
micro-batches, and with it no pipeline bubble, no step time and no answer to "does it fit".

## What to do

Write the key, or name a platform that fills it.

## When to ignore it

While a spec is still a sketch: remove the whole section instead, and what remains is checked in full.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
```

## Sources

- The keys and their defaults: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
