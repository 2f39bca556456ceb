"""A peak exceeds every peak of the accelerator and of its node, dense or sparse.

## What it finds

In Markdown and text files, and in the description of a spec: a peak that is more than 1.2 times the sparse peak of the part in the named precision, times
the number of parts in the sentence. A lower peak is not reported, because it may be measured.

## Why it matters

A utilization relative to a wrong peak is meaningless. A published text gives one DGX H100 17 times its 7.9 PFLOP/s of
BF16.

## What to do

Use the dense peak of the part and the precision from `clusterspec catalog show`.

## When to ignore it

Ignore it where the figure is for a whole cluster whose size the sentence does not state.

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
