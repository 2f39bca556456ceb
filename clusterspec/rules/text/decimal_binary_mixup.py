"""A size in decimal bytes is equated with a size in binary bytes.

## What it finds

In Markdown and text files, and in the description of a spec: one size stated in two units that differ by a power of 1.024, such as "80 GiB (80 GB)".

## Why it matters

A gibibyte is 7.4 % more than a gigabyte, a tebibyte 10 % more than a terabyte. A model that fits in 80 GiB with 3 % to
spare does not fit in 80 GB, and every time computed from the figure has the same error.

## What to do

Write `80 GiB (85.9 GB)`: GiB for memory as a device reports it, GB for the bytes of bandwidths.

## When to ignore it

Ignore it where the figure is meant to be rounded.

## Fires

```markdown 1
The device has 80 GiB (80 GB) of memory.
```

## Silent

```markdown
The device has 80 GiB (85.9 GB) of memory; its checkpoint is 140 GB, 130.4 GiB.
```

## Sources

- Decimal and binary prefixes: https://physics.nist.gov/cuu/Units/binary.html
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "note", "likely")
