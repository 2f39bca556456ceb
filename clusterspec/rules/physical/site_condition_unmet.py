"""The site is hotter or higher than the planned parts allow.

## What it finds

Conditions of the site in the description or a comment:

- air at the intake of the servers (`cold aisle at 34 °C`) above what the platform allows, or above 35 °C for any server
  that air cools;
- a capacity that is lower at this altitude or temperature (`30 kW nominal, 22 kW at this altitude`), where
  `power.rack_limit` or the capacity of `power.cdus` is the nominal one;
- a capacity at two temperatures of the water (`250 kW at 30 °C, 170 kW at 40 °C`), where the key states the capacity at
  one of them, and the water of the site has the other.

A coolant, or the water of rear doors, below the dew point of the room, by the temperatures and the relative humidity of the
text: an error.

## Why it matters

Servers above their limit lower their clocks or switch off, and their warranty ends. Thin air and warm water take up less
heat than the data sheet says, so racks that fit on paper overheat.

## What to do

Cool the air, or plan with the capacity that the maker states for the site.

## When to ignore it

Ignore it where the maker has released the parts for these conditions.

## Fires

```yaml description
clusterspec: 1
description: The hall has no chillers; the cold aisle reaches 34 °C in summer.
cluster: {platform: dgx-h100, nodes: 20, power: {cooling: air}}
```

```yaml cluster.power.rack_limit
clusterspec: 1
description: Rear doors of 30 kW nominal take 22 kW at this altitude.
cluster: {platform: hgx-h200, nodes: 12, power: {node: 9 kW, nodes_per_rack: 3, rack_limit: 30 kW}}
```

```yaml cluster.power.cdus.capacity
clusterspec: 1
description: Each unit takes 250 kW at 30 °C and 170 kW at 40 °C. The town returns water of 40 °C all year.
cluster:
  platform: mi355x-ubb8
  nodes: 8
  power: {node: 15 kW, cooling: liquid, liquid_share: 0.8, cdus: {count: 2, capacity: 250 kW, redundancy: N+1}}
```

## Silent

```yaml
clusterspec: 1
description: The cold aisle is held at 26 °C, the hot aisle reaches 38 °C. Rear doors of 30 kW nominal take 22 kW here.
cluster: {platform: dgx-h100, nodes: 8, power: {node: 10.2 kW, nodes_per_rack: 2, rack_limit: 22 kW, cooling: air}}
```

## Sources

- Air of 10 to 35 °C, class A2 of servers: https://www.ashrae.org/technical-resources/bookstore/datacom-series
- Lower temperatures for each 300 m above 900 m: https://www.ashrae.org/technical-resources/bookstore/datacom-series
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.readers.written_numbers import NUMBER, are_close, number_in_text, sentences_of, watts_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display, rounded_down

RULE = Rule.of(__name__, "error", "likely")
WARMEST = 35.0
"""Highest air temperature in °C at the intake of servers of ASHRAE class A2, which most manufacturers support."""
HOTTEST = 50.0
"""Lowest temperature in °C that cannot be the temperature of room air."""
_CELSIUS = rf"{NUMBER} ?(?:°|deg(?:rees)?|º)? ?c\b"
_TEMPERATURE = pattern(_CELSIUS)
_INTAKE = pattern(
    r"\b(?:intakes?|inlets?|supply air|cold[- ]aisles?|air (?:at|to|of) the servers|zuluft|kaltgang|ansaugluft|air soufflé|allée froide|aire de impulsi[oó]n|"
    r"pasillo frío|corredor frio|corridoio freddo|koude gang|kalla gången|zimny korytarz)\b|冷通道|コールドアイル|給気"
)
_OTHER_PLACE = pattern(
    r"\b(?:water|liquid|coolant|loops?|cdus?|wasser|eau|agua|água|acqua|vatten|exhaust|return|hot[- ]aisles?|warmgang|outside|outdoor|"
    r"gpus?|chips?|throttl\w*|allow\w*|up to|limits?|specified)\b"
)
_PART_END = pattern(r"[,;()]")
_WATER = pattern(r"\b(?:water|wasser|eau|agua|água|acqua|vatten|supply temperature|facility loop)\b")
_POWER = rf"{NUMBER} ?(k|m)w\b"
_POWERS = pattern(_POWER)
_AT_TEMPERATURE = pattern(rf"{_POWER}[^.;\d]{{0,60}}{_CELSIUS}")
_NOMINAL = pattern(
    r"\b(?:nominal\w*|rated|data[- ]?sheet|catalogu?e|at sea level|nennleistung|nennwert|valeur nominale|nominale[rsn]?)\b"
)
_DERATED = pattern(
    r"\b(?:altitude|here|at this (?:site|height|elevation)|above (?:the )?sea|derat\w*|höhe|hier|ici|aquí|altitud|aqui|qui|quota|in summer|on hot days)\b"
)
_SAME = 0.01
"""Relative difference up to which two figures are equal."""


_HUMIDITY = pattern(
    rf"{NUMBER} ?% ?(?:r\.? ?h\.?|relative humidity|humidity|relative(?:r)? (?:luft)?feuchte|luftfeuchte|luftfeuchtigkeit|d'humidité|humedad|umidade|umidità|vochtigheid)|"
    rf"\b(?:relative humidity|humidity|luftfeuchte|luftfeuchtigkeit|humidité|humedad|umidade|umidità|vochtigheid)\b[^.;\d]{{0,20}}{NUMBER} ?%"
)
_COOLANT = pattern(r"\b(?:coolant|water|loops?|liquid|pg25|cdus?|wasser|eau|agua|água|acqua|vatten|vann)\b")
_REAR_DOORS = pattern(
    r"\b(?:rear[- ]doors?|portes? arrière|rücktür\w*|puertas? traseras?|porte posteriori|achterdeur\w*)\b"
)
"""Pattern of heat exchangers in the doors of air-cooled racks."""
MARGIN = 2.0
"""Smallest temperature difference in K between a coolant and the dew point of the room (ASHRAE TC 9.9)."""


def check(cluster: Cluster, power: PowerSpec, remarks: str) -> Iterator[Problem]:
    if not remarks or (power.cooling is None and power.rack_limit is None and power.cdus is None):
        return
    sentences = sentences_of(remarks.lower()) if _may_state_conditions(remarks) else []
    if not sentences:
        return
    limit, whose = WARMEST, "servers of ASHRAE's class A2 allow"
    if cluster.platform is not None and cluster.platform.intake_celsius:
        limit, whose = float(cluster.platform.intake_celsius), f"{cluster.platform.name} allows"
    warmest = max(map(_intake_temperature, remarks.lower().split(". ")), default=0.0)
    if power.cooling != "liquid" and warmest > limit:
        message = (
            f"the air at the intake of the servers has {warmest:g} °C according to the text, but {whose} {limit:g} °C"
        )
        yield RULE.problem("description", message, "cool the air, or ask the maker for a release at this temperature")
    if power.cooling == "liquid" or _REAR_DOORS.search(remarks.lower()) is not None:
        yield from _dew_problem(remarks.lower())
    keys = (
        ("rack_limit", power.rack_limit),
        ("cdus.capacity", power.cdus.capacity if power.cdus is not None else None),
    )
    for key, planned in keys:
        lower = _capacity_of_site(sentences, planned) if planned is not None else None
        if planned is not None and lower is not None:
            message = f"{planned.written} is the nominal capacity; according to the text, the units have {display(lower, 'W')} at this site"
            yield RULE.problem(f"cluster.power.{key}", message, f"plan with {display(rounded_down(lower), 'W')}")


def _dew_problem(text: str) -> Iterator[Problem]:
    """The problem of a coolant that is colder than the dew point of the room, by the temperatures and humidity in the
    text.
    """
    humidity = _HUMIDITY.search(text)
    parts = [part for each in text.split(". ") for part in _CLAUSE.split(each)]
    coolant = [number_in_text(each) for part in parts if _COOLANT.search(part) for each in _TEMPERATURE.findall(part)]
    room = [
        number_in_text(each)
        for part in parts
        if _COOLANT.search(part) is None and _ROOM.search(part) is not None
        for each in _TEMPERATURE.findall(part)
    ]
    if humidity is None or not coolant or len(room) != 1:
        return
    percent = number_in_text(humidity[1] or humidity[2])
    if not 0 < percent <= 100:
        return
    dew = dew_point(room[0], percent / 100)
    if min(coolant) < dew:
        message = f"the coolant has {min(coolant):g} °C according to the text, but the dew point of a room of {room[0]:g} °C and {percent:g} % humidity is {dew:.1f} °C: water condenses on its pipes"
        yield RULE.problem("description", message, f"keep the coolant above {dew + MARGIN:.1f} °C, or dry the air")


def dew_point(celsius: float, humidity: float) -> float:
    """Temperature in °C at which air of a given temperature and relative humidity (a share) is saturated, by the Magnus
    formula over water.

    >>> round(dew_point(26, 0.6), 1), round(dew_point(20, 1.0), 6)
    (17.6, 20.0)
    """
    exponent = math.log(humidity) + _MAGNUS[0] * celsius / (_MAGNUS[1] + celsius)
    return _MAGNUS[1] * exponent / (_MAGNUS[0] - exponent)


_MAGNUS = (17.62, 243.12)
"""Coefficients of the Magnus formula over water, and °C (WMO-No. 8, annex 4.B)."""
_CLAUSE = pattern(r"[;:]|, | and (?=the (?:hall|room|air))| while ")
_ROOM = pattern(r"\b(?:hall|room|air|aisle|space|saal|raum|salle|sala|zaal|lokal)\b")


def _may_state_conditions(remarks: str) -> bool:
    """Whether a text states a temperature or a nominal figure; the sentences of other texts are not read."""
    text = remarks.lower()
    return _TEMPERATURE.search(text) is not None or _NOMINAL.search(text) is not None


def _intake_temperature(sentence: str) -> float:
    """Temperature in °C at the intake of servers that a sentence states; 0 if it states none.

    >>> _intake_temperature("the cold aisle has 20 c; it reaches 34 °c"), _intake_temperature("cold aisle, water of 40 °c")
    (34.0, 0.0)
    """
    parts = _PART_END.split(sentence) if _INTAKE.search(sentence) is not None else []
    own = [part for part in parts if _OTHER_PLACE.search(part) is None]
    degrees = [number_in_text(each) for part in own for each in _TEMPERATURE.findall(part)]
    return max((each for each in degrees if each < HOTTEST), default=0.0)


def _capacity_of_site(sentences: Sequence[str], planned: Quantity) -> float | None:
    """The watts that a unit delivers under the conditions of the site, if the planned figure is for other conditions;
    else None.
    """
    for sentence in sentences:
        watts = [watts_in_text(number, scale) for number, scale in _POWERS.findall(sentence)]
        nominal = _NOMINAL.search(sentence) is not None and _DERATED.search(sentence) is not None
        if nominal and len(watts) == 2 and are_close(max(watts), planned.value, _SAME) and min(watts) < max(watts):
            return min(watts)
    at = {}
    for sentence in sentences:
        for number, scale, degrees in _AT_TEMPERATURE.findall(sentence):
            at[number_in_text(degrees)] = watts_in_text(number, scale)
    others = [each for each in sentences if _WATER.search(each) and _AT_TEMPERATURE.search(each) is None]
    water = {number_in_text(degrees) for each in others for degrees in _TEMPERATURE.findall(each)}
    if len(at) < 2 or len(water) != 1:
        return None
    found = at.get(water.pop())
    is_other = found is not None and any(are_close(each, planned.value, _SAME) for each in at.values())
    return found if is_other and found is not None and found < planned.value * (1 - _SAME) else None
