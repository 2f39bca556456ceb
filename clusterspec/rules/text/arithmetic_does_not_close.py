"""A product, a total or an equation in a text does not follow from its figures.

## What it finds

In Markdown and text files: an equation such as "8 x 400 Gb/s = 400 Gb/s", a total that is not the count times the unit,
a table row that contradicts the formula of the other rows, and a factor of 3 for the traffic of ZeRO-3. The rule
accepts rounding, and a factor of two where the sentence mentions directions. Other rules report known mistakes, such as
bits for bytes.

In a spec: calculations of the description, the comments, the milestones and the lines of the quote whose result does
not follow from their figures, in numbers of things (also with prefixes, as in `4.2 M tokens`), money, power, energy,
sizes, rates of links, times and percents: 67 kW as the product of 8 nodes and 9.5 kW, `0.5 % of 9,944,352 = 497,218`,
`16 servers at 412,000 GBP each cost 6,952,000 GBP`. Commas and points may separate thousands or decimals, a result may
be rounded in its last digit, and the rule does not judge unknown units.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference: a power of ten,
a factor of two, bits for bytes, or one digit.

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
description: Eight servers; 8 nodes x 9.5 kW = 67 kW, and 0.5 % of 9,944,352 EUR a week = 49,722 EUR.
cluster: {platform: gaudi3-hls, nodes: 8}
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
description: Eight servers; 8 nodes x 9.5 kW = 76 kW, and 0,5 % von 9.944.352 EUR = 49.722 EUR a week.
cluster: {platform: gaudi3-hls, nodes: 8}  # 8 x 8 = 64 accelerators, 64 x 3 = 192 links
```

## Sources

- The traffic of ZeRO-3: S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, section 7.2, https://arxiv.org/abs/1910.02054
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import CALCULATION_CUES
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.source import Path
from clusterspec.spec.model import Spec
from clusterspec.units.display import plain

RULE = Rule.of(__name__, "error", "likely")
BILLIONS = (1e9, 1e12)
"""Factors that texts leave out of numbers of parameters and tokens."""
ROUNDED = 0.02
LONGEST = 90
"""Largest number of characters of a calculation that a message quotes."""


def check(spec: Spec, remarks: str) -> Iterator[Problem]:
    bought = spec.procurement
    if bought is None and not any(cue in remarks for cue in CALCULATION_CUES):
        return
    milestones = bought.delivery.milestones if bought is not None and bought.delivery is not None else None
    texts: list[tuple[Path, str]] = [(("description",), remarks)]
    texts += [(("procurement", "delivery", "milestones", at), each) for at, each in enumerate(milestones or ())]
    lines = bought.quote or () if bought is not None else ()
    texts += [(quote_path(at, "part"), line.part or "") for at, line in enumerate(lines)]
    for path, text in texts:
        if any(cue in text for cue in CALCULATION_CUES):
            yield from _calculation_problems(path, text)


def _calculation_problems(at: Path, text: str) -> Iterator[Problem]:
    # NOTE: loaded here, since most texts have no calculation.
    from clusterspec.rules.readers.doubt import confidence_in
    from clusterspec.rules.readers.results.equations import equations_in, is_wrong
    from clusterspec.rules.readers.results.explanations import has_factor_near
    from clusterspec.rules.readers.tokens import tokens_of

    for equation in equations_in(tokens_of(text), text):
        if is_wrong(equation):
            left, token = equation.left[0], equation.result
            alike = left.dimensions == token.dimensions
            value = left.value / token.scale if alike else left.plain
            ratio = token.values[0] / value if value else 0.0
            if not alike and has_factor_near(equation.text, text, ratio):
                continue  # a price or a time that stands before the calculation
            if any(
                abs(token.values[0] * token.scale / left.value / each - 1) < ROUNDED for each in BILLIONS if left.value
            ):
                continue  # `405 x 14 bytes`, of 405 billion parameters
            right = plain(value, 6)
            written = " ".join(equation.text.split())
            excerpt = written if len(written) <= LONGEST else f"… {written[-LONGEST:]}"
            message = f"`{excerpt}`: the left side is {right}{f' {token.unit}' if alike and token.unit else ''}"
            confidence = confidence_in(f"{token.text} {token.unit}", f"{right} {token.unit}")
            advice = "correct the figures, and what was derived from them"
            yield RULE.problem(at, message, advice, confidence=confidence)
