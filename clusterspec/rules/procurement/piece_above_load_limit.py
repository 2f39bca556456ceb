"""A rack is heavier than the lift or the floor on its way carries.

## What it finds

A rack whose weight a line of the quote states in kilograms, where the description, a comment or a line states the load of a
lift, or of the floor for each rack, and the rack is heavier.

## Why it matters

A rack that is delivered as one piece stays at the loading dock. Taking it apart may end its warranty, and a stronger lift
or floor is months of construction.

## What to do

Ask for a delivery in parts, choose another way in, or strengthen the floor.

## When to ignore it

Ignore it where the rack is assembled in the room, and only its parts take the lift.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
description: The room is in the basement; the goods lift carries 1,000 kg.
cluster: {platform: gb300-nvl72, nodes: 36}
procurement:
  currency: EUR
  quote:
    - {part: "GB300 NVL72 rack, assembled, 1,420 kg", quantity: 2, unit_price: 3840000}
```

## Silent

```yaml
clusterspec: 1
description: The room is in the basement; the goods lift carries 2,000 kg and the floor 2,500 kg per rack.
cluster: {platform: gb300-nvl72, nodes: 36}
procurement:
  currency: EUR
  quote:
    - {part: "GB300 NVL72 rack, assembled, 1,420 kg", quantity: 2, unit_price: 3840000}
```

## Sources

- Weight of an NVL72 rack, about 1.36 t: https://www.hpe.com/psnow/doc/a00142469enw
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_MASS = r"(\d{1,3}(?:[.,' ]\d{3})+|\d{2,5}(?:\.\d)?) ?kg\b(?! ?(?:/|per|je|pro|par|al) ?(?:m2|m²|sqm|square|quadrat|metro|mètre))"
_LIFTS = r"(?:lifts?|elevators?|hoists?|\w*aufz[uü]ge?|monte-charges?|ascenseurs?|montacargas|ascensor|elevador|montacarichi|ascensore|goederenlift|\w*hiss(?:en)?)"
_FLOORS = r"(?:floors?|slab|\w*b[oö]den|plancher|dalle|suelo|piso|pavimento|vloer|golv(?:et)?|gulv(?:et)?)"
_LIMITS = (
    ("the lift", pattern(rf"\b{_LIFTS}\b[^.;\d]{{0,40}}{_MASS}")),
    (
        "the floor",
        pattern(
            rf"\b{_FLOORS}\b[^.;\d]{{0,40}}{_MASS} ?(?:per|pro|je|par|por|a|/|each) ?(?:rack|cabinet|schrank|baie|armadio)"
        ),
    ),
)
"""What carries racks, and the kilograms that a text in lower case states of it."""
_RACK = pattern(r"\b(?:\w*racks?|cabinets?|\w*schrank|armoire|baie|armadio|armario|nvl ?\d{2,3})\b")
_MASS_OF_LINE = pattern(_MASS)


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = [(line.part or "").lower() for line in procurement.quote]
    text = remarks.lower()
    stated = [
        (_kilograms(mass), name)
        for name, limit in _LIMITS
        for mass in chain.from_iterable(limit.findall(each) for each in (*sentences_of(text), *lines))
    ]
    if not stated:
        return
    least, name = min(stated)
    for index, part in enumerate(lines):
        is_limit = any(limit.search(part) is not None for _, limit in _LIMITS)
        masses = [] if is_limit or _RACK.search(part) is None else [*map(_kilograms, _MASS_OF_LINE.findall(part))]
        if masses and max(masses) > least:
            message = f"`{name_of_part(procurement.quote[index].part)}` weighs {max(masses):,.0f} kg, and {name} carries {least:,.0f} kg by the text"
            at = ("procurement", "quote", index, "part")
            yield RULE.problem(at, message, "ask for a delivery in parts, or choose another way in")
            return


def _kilograms(digits: str) -> float:
    """The value of a mass whose thousands any sign may separate.

    >>> _kilograms("1.420"), _kilograms("1,420"), _kilograms("980"), _kilograms("980.5")
    (1420.0, 1420.0, 980.0, 980.5)
    """
    whole, _, rest = digits.replace(",", ".").replace("'", ".").replace(" ", ".").rpartition(".")
    return float(whole.replace(".", "") + rest) if whole and len(rest) == 3 else number_in_text(digits)
