"""A product, a total or an equation in a text does not follow from its figures.

## What it finds

In Markdown and text files: an equation such as "8 x 400 Gb/s = 400 Gb/s", a total that is not the count times the unit,
a table row that contradicts the formula of the other rows, and a factor of 3 for the traffic of ZeRO-3. The rule
accepts rounding, and a factor of two where the sentence mentions directions. Other rules report known mistakes, such as
bits for bytes.

In the description and the comments of a spec: such equations. There a result that is a whole multiple of the other side, or
a power of 1,000 of it, may count other units and is not reported.

## Why it matters

Readers rely on such figures. Eight NICs of 400 Gb/s are 3.2 Tb/s; with 400 Gb/s, 16 GB take 320 ms in the plan instead
of 40 ms.

## What to do

Correct the figure. The message gives the result.

## When to ignore it

Ignore it where the equals sign means something else.

## Fires

```yaml description
clusterspec: 1
description: Four racks of 4 x 10.2 kW = 44.8 kW each.
cluster: {platform: dgx-h100, nodes: 16}
```

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

```yaml
clusterspec: 1
description: Four racks of 4 x 10.2 kW = 40.8 kW each.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- The traffic of ZeRO-3: S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, section 7.2, https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_EQUATION = pattern(r"\d[^=\n]{0,60}[x×*·/+–-][^=\n]{0,60}\d[^=\n]{0,30}= ?[~≈]?\d")
"""What an equation of a text holds."""
_COMMENT = pattern(r"\.\s+#+ ?|\n")
_CODE = pattern(r"^`(?:\d{1,2} ?\+ ?\d(?![.,\d])|[^`]*\+ ?\d{1,4} [a-z]|[^`]*[%°])")
"""An equation that starts with the data and check blocks of an erasure code, adds a number of parts, or has a share."""
_SIDES = pattern(r"^`([^`]+) = ([^`]+)`")
_NUMBER = pattern(r"\d[\d,. ]*")
WIDEST = 64
"""Whole ratio of two sides up to which they may count different parts: nodes and accelerators, dies and packages."""
SAME = 0.004


def check(remarks: str, catalog: Catalog) -> Iterator[Problem]:
    if "=" not in remarks or _EQUATION.search(remarks) is None:
        return
    from clusterspec.prose.arithmetic import equation_mismatches
    from clusterspec.prose.document import ProseText

    for part in _COMMENT.split(remarks):
        if _EQUATION.search(part) is None:
            continue
        for sentence in ProseText(part, catalog).sentences:
            for found in equation_mismatches(sentence):
                if not _counts_otherwise(found.message, part):
                    yield RULE.problem("description", found.message, found.help)
                    return


def _counts_otherwise(message: str, text: str) -> bool:
    """Whether an equation may be right in other units, or is the end of a longer one.

    >>> _counts_otherwise("`6 x 32 dies = 96`: the left side is 192", "6 x 32 dies = 96 NPUs")
    True
    >>> _counts_otherwise("`4 x 10.2 kW = 44.8 kW`: the left side is 40.8 kW, 1/1.1 of", "4 x 10.2 kW = 44.8 kW")
    False
    """
    sides = _SIDES.search(message)
    if sides is None or _CODE.search(message) is not None:
        return True
    before = text.partition(sides[0].strip("`"))[0].rstrip()
    if (
        before.endswith(("+", "and", "plus", "und", "et", "y", "e", ",", "(", "x", "×", "*", "-", "–", "/", "with"))
        and before[-1] != "("
    ):
        return True
    written, other = (_first_number(sides[2]), _first_number(message.rpartition("side is ")[2].partition(",")[0]))
    if not written or not other:
        return False
    ratio = max(written, other) / min(written, other)
    thousands = any(abs(ratio / step - 1) < 0.05 for step in (1e3, 1024.0, 1e6, 1024.0**2, 1e9, 1024.0**3, 1e12))
    return thousands or (round(ratio) in range(2, WIDEST + 1) and abs(ratio / round(ratio) - 1) < SAME)


def _first_number(text: str) -> float:
    """The first number of a text, with commas between thousands; 0 without one."""
    found = _NUMBER.search(text)
    digits = found[0].replace(",", "").replace(" ", "").strip(".") if found is not None else ""
    return float(digits) if digits.replace(".", "", 1).isdigit() else 0.0
