"""The unit does not distinguish bits from bytes.

## What it finds

A unit whose letter case is ambiguous: `gb/s`, `gbps`, `GBPS`, `gb`. Both readings are offered, and neither is
assumed.

## Why it matters

The two readings differ by a factor of eight. `400 gb/s` may be 50 GB/s or 400 GB/s, and the time of a
gradient reduction differs by the same factor.

## What to do

Write `Gb/s` (also `Gbps`, `Gbit/s`) for bits and `GB/s` for bytes. Line rates of NICs and switch ports are
usually given in bits, scale-up and memory bandwidth in bytes.

## When to ignore it

Do not ignore it: the value is not used until the unit is clear.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 400 gbps}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 400 Gbps}
```

## Sources

- Bits and bytes in vendors' network figures: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L76
- A user and NCCL's maintainers on the unit of a figure: https://github.com/NVIDIA/nccl/issues/243
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
