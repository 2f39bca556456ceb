"""A scale-up bandwidth states no direction.

## What it finds

A `bandwidth`, `peer_bandwidth` or `axis_bandwidth` under `scale_up` without `duplex` or `unidirectional` (or a synonym
such as *per direction* or *bidirectional*).

## Why it matters

Vendors use both conventions: NVIDIA sums both directions of NVLink (900 GB/s for 450 per direction), Intel gives
Gaudi's ports per direction, AMD's data sheets do both. With the wrong convention, every collective inside the domain is
predicted at twice or half its time.

## What to do

Append `duplex` or `unidirectional`: `900 GB/s duplex` and `450 GB/s unidirectional` are the same NVLink 4.

## When to ignore it

Do not ignore it: the figure is not used until it has a direction.

## Fix safety

The fix is unsafe: it appends the direction with which the figure agrees with the catalog. The author may have counted
in the other one.

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s duplex}
```

## Sources

- Both conventions side by side: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
- Users who compared a bus bandwidth with the duplex figure: https://github.com/NVIDIA/nccl/issues/1442
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
