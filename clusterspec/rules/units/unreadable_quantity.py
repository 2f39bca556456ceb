"""A quantity cannot be read.

## What it finds

Text that is not a number with a unit, where a quantity is expected: `fast`, `4OO Gb/s` with letters for zeros, `1,5
TB/s` with a decimal comma.

## Why it matters

The value is not used, and everything that depends on it is not checked.

## What to do

Write a number, a unit and where needed a word: `400 Gb/s`, `900 GB/s duplex`, `8 x 400 Gb/s`, `15T`.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: fast}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nic_bandwidth: 0.4 Tb/s}
```

## Sources

- All readings of a quantity: `clusterspec convert "400 Gb/s"`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
