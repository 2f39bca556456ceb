"""The letters of a unit do not say whether bits or bytes are meant.

## What it finds

A unit whose case settles nothing: `gb/s`, `gbps`, `GBPS`, `gb`. Both readings are offered, and neither is
taken.

## Why it matters

The two readings differ by a factor of eight. `400 gb/s` is 50 GB/s to a network engineer and 400 GB/s to
somebody who reads memory sheets: the time of a gradient reduction is off by the same factor.

## What to do

Write `Gb/s` (also `Gbps`, `Gbit/s`) for bits and `GB/s` for bytes. Line rates of NICs and switch ports are
usually given in bits, scale-up and memory bandwidth in bytes.

## When to ignore it

Never: the value is not used until it is settled.

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
- A user and NCCL's maintainers sorting out which one a figure was in: https://github.com/NVIDIA/nccl/issues/243
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
