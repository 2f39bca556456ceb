"""A product, a total or an equation in a text does not follow from its figures.

## What it finds

In Markdown and text files: an equation such as "8 x 400 Gb/s = 400 Gb/s", a total that is not the count times the unit,
a table row that contradicts the formula of the other rows, and a factor of 3 for the traffic of ZeRO-3. The rule
accepts rounding, and a factor of two where the sentence mentions directions. Other rules report known mistakes, such as
bits for bytes.

## Why it matters

Readers rely on such figures. Eight NICs of 400 Gb/s are 3.2 Tb/s; with 400 Gb/s, 16 GB take 320 ms in the plan instead
of 40 ms.

## What to do

Correct the figure. The message gives the result.

## When to ignore it

Ignore it where the equals sign means something else.

## Fires

```markdown 1
A node has 8 x 400 Gb/s = 400 Gb/s of network bandwidth.
```

```markdown 6
| NICs | rate | total |
|---|---|---|
| 8 NICs | 400 Gb/s | 3.2 Tb/s |

With 18 links of 50 GB/s each there are 900 GB/s.
So 18 links × 50 GB/s = 990 GB/s.
```

## Silent

```markdown
A node has 8 x 400 Gb/s = 3.2 Tb/s of network bandwidth, or 8 × 50 GB/s = 400 GB/s.
One direction of NVLink 4 is 18 links × 25 GB/s = 450 GB/s, and 16/450 = 0.036 s for 16 GB.
```

## Sources

- The traffic of ZeRO-3: S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, section 7.2, https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
