"""A percentage is not the ratio of its figures.

## What it finds

In Markdown and text files: "376 of 450 GB/s is 42 %" where the ratio of the figures differs by more than four points.

## Why it matters

The percentage decides whether a fabric passes. 376 of 450 GB/s is 84 %, which is good. 42 % is relative to the 900 GB/s
of both directions, and suggests a fault that does not exist.

## What to do

Divide by the figure of the same direction.

## When to ignore it

Ignore it where the percentage refers to another figure.

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
