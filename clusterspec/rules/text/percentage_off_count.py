"""A percentage is not the one figure over the other.

## What it finds

In Markdown and text files: "376 of 450 GB/s is 42 %" where the two figures make another share, by more than four points.

## Why it matters

A share decides whether a fabric passes. 376 of 450 GB/s is 84 %, which is good; 42 % is what the same figure is of the 900 GB/s of
both directions, and sends people hunting for a fault that is not there.

## What to do

Divide by the figure of the same direction, and write what comes out.

## When to ignore it

Where the percentage is of something else.

## Fires

```markdown 1
We reach 376 GB/s out of 450 GB/s (42%).
```

## Silent

```markdown
We reach 376 GB/s out of 450 GB/s (84%).
```

## Sources

- A share of the wrong direction: https://github.com/NVIDIA/nccl/issues/1442
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note", "likely")
