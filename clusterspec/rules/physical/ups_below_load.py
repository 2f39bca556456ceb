"""An uninterruptible power supply is smaller than its load.

## What it finds

The uninterruptible power supplies (UPS) of the description or the quote have less power, in kW or in kVA times the
stated power factor, than the machine draws at full load. Lines that name another use, such as switches or storage, do
not count. Without a power factor, kVA count as kW, the most that they can be. It is an error where the text says that
the UPS feeds the room or the machine, and a warning for a line of the quote.

## Why it matters

An overloaded UPS goes to bypass or trips, and the machine is down at the moment for which the UPS was bought.

## What to do

Choose a UPS for the watts of the machine, with its power factor and redundancy, or name the loads that it feeds.

## When to ignore it

Ignore it where the UPS only feeds a part of the machine, and say so.

## Fires

```yaml description
clusterspec: 1
description: One UPS of 300 kVA with an output power factor of 0.9 feeds the room.
cluster: {platform: dgx-h200, nodes: 32, power: {node: 10.2 kW, nodes_per_rack: 2, cooling: air}}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-spark, nodes: 1, power: {node: 240 W, cooling: air}}
procurement: {currency: JPY, quote: [{part: DGX Spark, quantity: 1, price: 698000}, {part: UPS 200 VA, quantity: 1, price: 12000}]}
```

## Silent

```yaml
clusterspec: 1
description: Two UPS of 250 kVA with a power factor of 0.9 feed the room. The switches have a UPS of 10 kVA of their own.
cluster: {platform: dgx-h200, nodes: 32, power: {node: 10.2 kW, nodes_per_rack: 2, cooling: air}}
```

## Sources

- Ratings in VA and W: https://www.blackbox.com/en-ca/products/black-box-explains/black-box-explains-sizing-a-ups
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import NUMBER, count_in_text, number_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_UPS = r"\b(?:ups(?:es)?|uninterruptible power suppl(?:y|ies)|usv(?:-anlagen?)?|onduleurs?|sai|nobreaks?|grupp[oi] di continuità)\b"
_RATED = pattern(
    rf"(?:(?<![\w.,])(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:[x×] )?(?:[a-z-]{{2,12}} ){{0,2}}?)?{_UPS}[^.;\d]{{0,30}}{NUMBER} ?(k|m)?(va|w)\b( each)?"
)
"""Pattern of the units of a text and the rating of one: their number, possibly as a word, the rating and its unit."""
_FACTOR = pattern(
    r"\b(?:power factor|pf|cos ?(?:phi|φ)|\w{0,10}leistungsfaktor|facteur de puissance)\b[^.;\d]{0,12}(0?[.,]\d{1,2}|1[.,]0)\b"
)
_OF_PART = pattern(
    r"\b(?:switch\w*|storage|stores?|management|control\w*|head|login|network|frontend|pumps?|cdus?|crahs?|fans?|lights?|monitoring|bms|only|half|each rack|per rack|shutdown|graceful\w*)\b"
)
"""Pattern of words for a UPS that feeds a part of the machine, or that is counted per rack."""
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6}


def check(
    counts: FabricCount, power: PowerSpec, cluster: Cluster, procurement: ProcurementSpec | None, texts: PurchaseTexts
) -> Iterator[Problem]:
    if not texts.remarks and (procurement is None or not procurement.quote):
        return
    drawn = it_power(cluster, counts.fabric, power)
    if drawn is None:
        return
    for sentence in texts.sentences:
        found = _RATED.search(sentence) if _OF_PART.search(sentence) is None else None
        carried = _watts_of(found, sentence) if found is not None else 0.0
        if 0 < carried < drawn[0]:
            message = f"according to the text, the UPS gives {display(carried, 'W')}, but the machine draws {display(drawn[0], 'W')} at full load"
            yield RULE.problem("description", message, "choose a larger UPS, or say what it feeds")
            return
    lines = [
        (index, line, _watts_of(found, text) * float(line.quantity or 1))
        for index, line in enumerate((procurement.quote if procurement is not None else None) or ())
        if (found := _RATED.search(text := plain_part(line))) is not None and _OF_PART.search(text) is None
    ]
    total = sum_of(watts for _, _, watts in lines)
    if lines and total < drawn[0]:
        index, line, _ = lines[0]
        message = f"`{name_of_part(line.part)}` gives {display(total, 'W')} at most, but the machine draws {display(drawn[0], 'W')} at full load"
        at = quote_path(index, "part")
        yield RULE.problem(at, message, "order a larger one, or say in the line what it feeds", severity="warning")


def _watts_of(found: re.Match[str], text: str) -> float:
    """The watts that units supply: their number times their rating, with volt-amperes multiplied by the power factor in
    the text.
    """
    number, rating, scale, unit, _ = found.groups()
    count = count_in_text(number) if number else 1
    factor = _FACTOR.search(text) if unit == "va" else None
    return count * number_in_text(rating) * _SCALE[scale or ""] * (number_in_text(factor[1]) if factor else 1.0)
