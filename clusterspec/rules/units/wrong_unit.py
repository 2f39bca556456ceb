"""The unit of a quantity does not fit its key.

## What it finds

A size where a bandwidth is expected (`nic_bandwidth: 400 Gb`), a power where a time is expected, a bandwidth with
`sparse`.

## Why it matters

The value does not fit the key and is not used.

## What to do

Use the unit that the message names.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 400 Gb}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 400 Gb/s}
```

## Sources

- The unit of each key: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
