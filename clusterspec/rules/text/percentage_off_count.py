"""A percentage is not the ratio of its figures.

## What it finds

In Markdown and text files, as a note: "376 of 450 GB/s is 42 %" where the ratio of the figures differs by more than four points.

In a spec: `N % less` or `cheaper`, `N % more` or `dearer`, and `breaks even at N %` in a sentence of the description
with two prices of one unit, where the percentage is relative to the other price: 27.20 against 55.04 is 50.6 % less,
and 55.04 is 102 % more. These are warnings.

## Why it matters

The percentage decides whether a fabric passes. 376 of 450 GB/s is 84 %, which is good. 42 % is relative to the 900 GB/s
of both directions, and suggests a fault that does not exist.

## What to do

Divide by the figure of the same direction.

## When to ignore it

Ignore it where the percentage refers to another figure.

## Fires

```yaml description
clusterspec: 1
description: The reserved instances cost 40 USD an hour, against 60 USD an hour on demand, 50 % less.
cluster: {platform: aws-p5-48xlarge, nodes: 8}
```

```markdown 1
We reach 376 GB/s out of 450 GB/s (42%).
```

## Silent

```markdown
We reach 376 GB/s out of 450 GB/s (84%).
```

```yaml
clusterspec: 1
description: The reserved instances cost 40 USD an hour, against 60 USD an hour on demand, 33 % less; they break even at 67 % of use.
cluster: {platform: aws-p5-48xlarge, nodes: 8}
```

## Sources

- A share of the wrong direction: https://github.com/NVIDIA/nccl/issues/1442
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.tokens import names_money
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units.display import plain

RULE = Rule.of(__name__, "note", "likely")
POINTS = 2.0
"""Difference in percentage points that the rounding of two prices explains."""
_PERCENT = r"(?<![\d.,])(\d{1,3}(?:[.,]\d{1,2})?) ?%"
_LESS = pattern(
    rf"(?i){_PERCENT} (?:less|cheaper|lower|below|saved|saving|günstiger|billiger|weniger|unter|moins cher\w*|de moins|menos|más barat\w*|in meno)\b|\b(?:saves?|saving of|reduction of|spart|économise|ahorra) {_PERCENT}"
)
_MORE = pattern(
    rf"(?i){_PERCENT} (?:more|dearer|higher|above|more expensive|teurer|mehr|über|plus cher\w*|de plus|más|más car\w*|in più)\b"
)
_EVEN = pattern(rf"(?i)\bbreaks? ?-?even\b[^.;\d]{{0,40}}?{_PERCENT}|\bbreak-even-?punkt\b[^.;\d]{{0,40}}?{_PERCENT}")


def check(remarks: str) -> Iterator[Problem]:
    if (
        "%" not in remarks
        or not names_money(remarks)
        or not any(each.search(remarks) is not None for each in (_LESS, _MORE, _EVEN))
    ):
        return
    from clusterspec.rules.readers.written_numbers import sentences_of  # most texts compare no prices

    for clause in sentences_of(remarks):
        low, high = _two_prices(clause)
        if not low:
            continue
        less, more, share = 100 * (1 - low / high), 100 * (high / low - 1), 100 * low / high
        for words, right, mistaken in (
            (_LESS, less, (more, share)),
            (_MORE, more, (less,)),
            (_EVEN, share, (less, more)),
        ):
            for written in [
                next(filter(None, each), "") if isinstance(each, tuple) else each for each in words.findall(clause)
            ]:
                stated = float(written.replace(",", "."))
                if abs(stated - right) > POINTS and any(abs(stated - each) <= POINTS / 2 for each in mistaken):
                    message = f"of {plain(low, 6)} and {plain(high, 6)} it is {plain(right, 3)} %, not {written} %"
                    yield RULE.problem("description", message, f"write `{plain(right, 3)} %`", severity="warning")


def _two_prices(clause: str) -> tuple[float, float]:
    """The lower and the higher of the only two prices in a sentence, in one currency and unit; else zeros."""
    from clusterspec.rules.readers.tokens import UNITS, tokens_of

    money = [each for each in tokens_of(clause) if each.unit and UNITS[each.unit][1][0] == 1]
    values = sorted({each.values[0] for each in money})
    alike = len({each.per for each in money}) == 1 and len({each.unit for each in money}) == 1
    return (values[0], values[1]) if len(values) == 2 and alike and values[0] > 0 else (0.0, 0.0)
