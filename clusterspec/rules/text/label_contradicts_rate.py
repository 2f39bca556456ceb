"""A named generation has the rate of another generation, or an accelerator the memory of another.

## What it finds

In Markdown and text files, and in the description of a spec: a figure of NVLink, PCIe or another interconnect that does not fit the named generation in
any reading, but fits another generation: "PCIe Gen5 x16: 32 GB/s per direction". `nic-rate-off-technology` reports
rates of network ports. The rule also reports a memory size or memory bandwidth stated as a property of an accelerator,
in a sentence ("H200 GPUs have 80 GB of HBM3e") or in a column of memory, that belongs to another accelerator of the
same vendor.

## Why it matters

Each generation of PCIe doubles the previous one, so either the label or the figure is wrong by a factor of two. A 400
Gb/s NIC needs 50 of the 63 GB/s of a Gen5 slot, and gets 31.5 GB/s from a Gen4 slot.

## What to do

Correct the label or the rate. The message names the generation with this rate.

## When to ignore it

Ignore it for a part with fewer links than its generation usually has; better, state how many links the part has.
Ignore it for a variant of an accelerator with another memory, which the catalog does not have.

## Fires

```markdown 1
PCIe Gen5 x16 moves 32 GB/s per direction.
```

## Silent

```markdown
PCIe Gen4 x16 moves 32 GB/s per direction, PCIe Gen5 x16 moves 64, and Gen5 x8 moves 32 GB/s per direction.
```

## Sources

- Rates of the generations: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L240
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
