"""A cost in the text is not its quantity times its rate.

## What it finds

Sentences of the description, the comments, the milestones and the lines with one quantity, one rate for its unit, and a cost that
is off by a power of ten or by the months of a year: `200 TB a month at 0.05 USD per GB are 1,000 USD a month`, `900 kW at 12 EUR
per kW and month are 10,800 EUR a year`. Costs that other numbers of the sentence explain are accepted.

## Why it matters

GB for TB and a month for a year are common mistakes in contracts by use: egress, storage, colocation and demand
charges.

## What to do

Multiply again, in the units of the rate.

## When to ignore it

Ignore it where the cost covers another quantity than the stated one.

## Fires

```yaml description
clusterspec: 1
description: Egress of 200 TB a month at 0.05 USD per GB costs 1,000 USD a month.
cluster: {platform: aws-p5-48xlarge, nodes: 8}
procurement: {currency: USD, prices: {node_hour: 40}}
```

```yaml description
clusterspec: 1
description: The demand charge for 900 kW is 12 EUR per kW and month, which is 10,800 EUR a year.
cluster: {platform: dgx-h100, nodes: 64}
procurement: {currency: EUR}
```

## Silent

```yaml
clusterspec: 1
description: Egress of 200 TB a month at 0.05 USD per GB costs 10,000 USD a month. The demand charge for 900 kW is 12 EUR per kW and month, which is 129,600 EUR a year.
cluster: {platform: dgx-h100, nodes: 64}
procurement: {currency: EUR}
```

## Sources

- Decimal and binary multiples of the byte: https://physics.nist.gov/cuu/Units/binary.html
- Demand charges per kilowatt and month: https://www.nrel.gov/docs/fy17osti/68963.pdf
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import amount_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.results.equations import PricedAmount, has_wrong_equation, other_numbers, priced_amounts
from clusterspec.rules.readers.tokens import names_money
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.source import Path

RULE = Rule.of(__name__, "error", "likely")
CUES = ("per ", "/", "pro ", "je ", "par ", "por ")
"""Words for a rate; a text with a rate has at least one of them."""
SAME = 0.02
"""Relative difference up to which a cost is the product of its rate and quantity."""
_SLIPS = (12.0, *(10.0**power for power in (1, 2, 3, 4, 6)))
"""Factors of a wrong prefix or digit, and of months for years."""
MOST_OTHERS = 6
"""Largest number of further numbers in a sentence whose products are compared."""


def check(texts: PurchaseTexts) -> Iterator[Problem]:
    if not any(cue in texts.remarks for cue in CUES) or not names_money(texts.remarks):
        return
    placed: list[tuple[Path, str]] = [(("description",), each) for each in sentences_of(texts.remarks)]
    delivery = texts.procurement.delivery
    for index, each in enumerate((delivery.milestones if delivery is not None else None) or ()):
        placed.append((("procurement", "delivery", "milestones", index), each))
    for at, sentence in placed:
        text = texts.remarks if at == ("description",) else sentence
        for found in priced_amounts(sentence):
            if _is_mistaken_factor(found, sentence) and not has_wrong_equation(sentence, text):
                cost, quantity, rate = found.cost, found.quantity, found.rate
                message = (
                    f"{quantity.text} {quantity.unit} at {rate.text} {rate.unit} per {' and '.join(rate.per)} are "
                    f"{amount_text(found.right)} {cost.unit}{f' per {cost.per[0]}' if cost.per else ''}, not {cost.text}"
                )
                yield RULE.problem(at, message, "multiply again, and correct what was derived from it")
                break


def _is_mistaken_factor(found: PricedAmount, sentence: str) -> bool:
    """Whether a cost is wrong by a factor of `_SLIPS` that no other number in the sentence explains."""
    others = other_numbers(sentence, (found.cost, found.rate, found.quantity))[:MOST_OTHERS]
    factors = [prod(some) for size in range(3) for some in combinations([each for each in others if each], size)]
    ratios = [written / found.right for written in found.cost.values if found.right]
    if any(_is_same(ratio, each) or _is_same(ratio, 1 / each) for ratio in ratios for each in factors):
        return False
    return any(_is_same(ratio, each) or _is_same(ratio, 1 / each) for ratio in ratios for each in _SLIPS)


def _is_same(one: float, other: float) -> bool:
    return abs(one / other - 1) <= SAME
