"""A required key is missing.

## What it finds

A section without a required key: a cluster without `nodes`, or with neither `platform` nor
`accelerator`; a workload without `model`, `sequence_length` or, for training, `global_batch`. A key counts
as supplied when `extends`, the platform, the accelerator's entry or a stated default gives it.

## Why it matters

Everything that depends on the key is not checked. Without the batch there is no number of micro-batches, and therefore
no pipeline bubble, step time or memory estimate.

## What to do

Add the key, or name a platform that supplies it.

## When to ignore it

Ignore it while a spec is a draft; better, remove the whole section.

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
