"""A coolant is planned colder than the air or the water that cools it.

## What it finds

- Dry coolers that have neither spray nor a chiller, according to the text, with water less than 3 K above the outside air in summer.
- A secondary loop to the servers, according to the text, that is colder than the primary water of its coolant distribution units.

## Why it matters

Without a compressor heat only moves from warm to cold. On hot days the coolant gets warmer than the plan, and accelerators
lower their clocks or switch off.

## What to do

Plan with a warmer coolant where the racks allow it, or add spray or a chiller for the hot days.

## When to ignore it

Ignore it where the load is lowered on hot days; say so in the text.

## Fires

```yaml description
clusterspec: 1
description: Primary water of 32 °C comes from dry coolers on the roof, without spray and without a chiller; outside air in summer 38 °C.
cluster: {platform: hgx-b200, nodes: 32, power: {cooling: liquid, liquid_share: 0.8}}
```

```yaml description
clusterspec: 1
description: Primary water of 32 °C; the secondary supply to the servers is held at 30 °C by plate heat exchangers.
cluster: {platform: hgx-b200, nodes: 32, power: {cooling: liquid, liquid_share: 0.8}}
```

## Silent

```yaml
clusterspec: 1
description: Primary water of 42 °C comes from dry coolers on the roof, without spray and without a chiller; outside air in summer 38 °C.
cluster: {platform: hgx-b200, nodes: 32, power: {cooling: liquid, liquid_share: 0.8}}
```

## Sources

- Dry coolers cool by convection to the air alone: http://coolsys.hu/products/cooling_tower/dry_cooler.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
APPROACH = 3.0
"""Smallest temperature difference in K between the water of a large dry cooler and the air, and between a secondary and
a primary loop.
"""
_DRY = pattern(
    r"\bdry[- ]?cool(?:ers?|ing)\b|\btrockenkühl\w*|\b(?:trocken\w*|trock\w*) (?:\w{1,16} )?rückkühl\w*|\baéroréfrigérants? secs?\b|\bdrycoolers?\b|\baerorefrigerador\w*|\bdry ?coolern?\b"
)
_AIDED = pattern(
    r"\b(?:spray\w*|adiabat\w*|evaporativ\w*|chillers?|compressors?|wet|mist\w*|besprüh\w*|berieselung|kältemaschinen?|verdichter|groupes? froids?|enfriador\w*|refrigerat\w*|trim\w*|throttl\w*)\b"
)
_WITHOUT = pattern(
    r"\b(?:without|no|ohne|kein\w*|sans|sin|sem|senza|zonder)\b (?:[\w'-]{1,24} ){0,2}?(?:spray\w*|adiabat\w*|evaporativ\w*|chillers?|compressors?|wet\w*|mist\w*|besprüh\w*|berieselung|kältemaschinen?|verdichter|groupes? froids?|enfriador\w*|refrigerat\w*)"
)
_OUTSIDE = pattern(
    r"\b(?:outside|outdoor|ambient|summer|dry[- ]?bulb|außen\w*|sommer\w*|extérieure?|été|exterior|verano|esterna|estate|buiten\w*|ulkoilma\w*)\b"
)
_SUPPLY = pattern(
    r"\b(?:water|supply|primary|facility|loop|coolant|fws|\w*wasser|vorlauf|eau|agua|água|acqua|vatten)\b"
)
_SIDES = (
    pattern(r"\b(?:primary|facility water|fws|primär\w*|primaire|primario|primári[oa])\b"),
    pattern(
        r"\b(?:secondary|tcs|technology (?:cooling|water)|sekundär\w*|secondaire|secundari[oa]|secundári[oa]|secondari[oa])\b"
    ),
)
"""Patterns of the building's loop and of the servers' loop."""
_PAIR = pattern(r"(?<![\w.,])(\d{2}) ?/ ?(\d{2}) ?°? ?c\b")
_DEGREES = pattern(rf"{NUMBER} ?(?:°|deg(?:rees)?|º)? ?c\b")
_CUES = ("°", "º", "deg", *(f"{digit}{space}c" for digit in range(10) for space in ("", " ")))
"""Signs of a temperature; the pattern is compiled only for texts with one of them."""
_CLAUSE = pattern(r"[;:()]|, | and | und | et | y | e ")


def check(remarks: str) -> Iterator[Problem]:
    if not remarks:
        return
    text = remarks.lower()
    if not any(cue in text for cue in _CUES) or _DEGREES.search(text) is None:
        return
    if _AIDED.search(_WITHOUT.sub(" ", text)) is not None:
        return
    clauses = [clause for sentence in sentences_of(text) for clause in _CLAUSE.split(sentence)]
    if _DRY.search(text) is not None:
        yield from _dry_problem(clauses)
    primary, secondary = (
        {min(found) for clause in clauses if side.search(clause) and (found := _celsius(clause))} for side in _SIDES
    )
    if len(primary) == 1 and secondary and min(secondary) < min(primary):
        message = f"the secondary loop has {min(secondary):g} °C according to the text, below the {min(primary):g} °C of the primary water that cools it"
        help_ = f"plan with {min(primary) + APPROACH:g} °C or more, or ask for colder primary water"
        yield RULE.problem("description", message, help_)


def _dry_problem(clauses: Sequence[str]) -> Iterator[Problem]:
    """The problem of dry-cooler water that is planned colder than the outside air plus `APPROACH`."""
    outside = {each for clause in clauses if _OUTSIDE.search(clause) for each in _celsius(clause)}
    water = {
        min(found)
        for clause in clauses
        if _OUTSIDE.search(clause) is None and _SUPPLY.search(clause) and (found := _celsius(clause))
    }
    if outside and water and min(water) < max(outside) + APPROACH:
        message = f"dry coolers alone keep water {APPROACH:g} K or more above the air of {max(outside):g} °C, but the plan has {min(water):g} °C"
        help_ = f"plan with water of {max(outside) + APPROACH:g} °C or more, or add spray or refrigeration"
        yield RULE.problem("description", message, help_)


def _celsius(clause: str) -> list[float]:
    """The temperatures of a clause in °C, including both of a supply and return pair.

    >>> _celsius("primärwasser 32/40 °c"), _celsius("air of 38 °c")
    ([32.0, 40.0], [38.0])
    """
    pairs = [float(each) for pair in _PAIR.findall(clause) for each in pair]
    return pairs or [number_in_text(each) for each in _DEGREES.findall(clause)]
