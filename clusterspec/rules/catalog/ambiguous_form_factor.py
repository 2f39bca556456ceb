"""An accelerator is named by its family, which is sold in several forms.

## What it finds

`h100`, `a100`, `h200`, `mi300`: a name of several entries with different memory or scale-up bandwidth.

## Why it matters

An H100 SXM has 900 GB/s duplex of NVLink to seven others, an H100 PCIe has a bridge to one and 350 W less. tp 8 suits
the first, not the second.

## What to do

Write the full id: `h100-sxm-80gb`, `h100-pcie-80gb` or `h100-nvl-94gb`.

## When to ignore it

Do not ignore it: a family name does not select a part.

## Fires

```yaml cluster.accelerator
clusterspec: 1
cluster: {accelerator: h100, accelerators_per_node: 8, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4}
```

## Sources

- Users of the PCIe part who expected NVLink: https://github.com/NVIDIA/nccl/issues/1161
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
