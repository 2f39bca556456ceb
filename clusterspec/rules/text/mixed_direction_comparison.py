"""A comparison mixes a duplex figure with a one-way figure.

## What it finds

In Markdown and text files, and in the description of a spec: a ratio between two tiers ("18×") that is twice, or half,
the ratio in one direction; or two figures without a direction in one sentence, list or column, if according to the
catalog one is duplex and the other one-way.

## Why it matters

Vendors state NVLink in both directions and NICs in one. 900 GB/s over 50 GB/s is 18, but a ring has 450 GB/s and 50
GB/s, a ratio of 9. A layout that is rejected at 18 may be the best at 9.

## What to do

Use one direction for both: 450 GB/s and 50 GB/s, or 900 and 100.

## When to ignore it

Ignore it where the text explains this confusion.

## Fires

```markdown 1
NVLink 4 is 18× faster than NDR InfiniBand.
```

```markdown 3
| tier | bandwidth |
|---|---|
| NVLink 4 | 900 GB/s |
| InfiniBand NDR | 50 GB/s |
```

## Silent

```markdown
NVLink 4 is 9× faster than NDR InfiniBand, and NVLink 5 is 18× faster.

| tier | bandwidth, each way |
|---|---|
| NVLink 4 | 450 GB/s |
| InfiniBand NDR | 50 GB/s |
```

## Sources

- Both conventions side by side: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L76
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "likely")
