"""A quantity has no unit.

## What it finds

A number without a unit, such as `nic_bandwidth: 400` or `rack_limit: 44`.

## Why it matters

400 may be Gb/s or GB/s, 44 may be kW or W. A wrong guess changes every time, price and power computed from it by a
factor of 8 or 1000.

## What to do

Write the unit: `400 Gb/s`, `44 kW`.

## When to ignore it

Do not ignore it: the value is not used until it has a unit.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 400}
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

- How network figures are written: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L76
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
