"""A count of links or neighbors differs from the part's.

## What it finds

The rule reads Markdown and text files. It finds a total of NVLinks of a known node that is neither its accelerators times
their links nor half of that (its bisection). It also finds "connects to N others" where N differs from the links of a torus
or from the peers of a full mesh.

## Why it matters

Total bandwidths are computed from such counts. The six switches of a DGX A100 have 96 links, 16 each; 72 links would be
three quarters of its bandwidth.

## What to do

Write the number that the message gives.

## When to ignore it

Ignore it where links of another kind are included.

## Fires

```markdown 1
A DGX A100 has eight GPUs of 12 NVLinks, a total of 72.
```

## Silent

```markdown
A DGX A100 has eight GPUs of 12 NVLinks, a total of 96.
Each MI300X connects to 7 other GPUs.
```

## Sources

- Links and switches of DGX A100: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L477
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
