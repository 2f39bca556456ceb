"""A peak is more than the accelerator or the node can do, sparse or not.

## What it finds

In Markdown and text files: a peak that is more than 1.2 times the sparse peak of the part in the named precision, times as many parts
as the sentence counts. A peak that is below is left alone: it may be measured.

## Why it matters

A utilization against a peak that does not exist says nothing. One DGX H100 is in print with 17 times the
7.9 PFLOP/s that it does in BF16.

## What to do

Take the dense peak of the part and the precision from `clusterspec catalog show`.

## When to ignore it

Where the figure is of a whole cluster that the sentence does not count.

## Fires

```markdown 1
One DGX H100 node delivers 134 PFLOP/s in BF16.
```

## Silent

```markdown
One DGX H100 node delivers 7.9 PFLOP/s in BF16, and 17 nodes deliver 134 PFLOP/s.
```

## Sources

- Dense and sparse peaks of the H100: https://glennklockwood.com/garden/processors/h100
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
