"""The flow of the coolant does not carry the heat of the racks.

## What it finds

A flow in liters a minute and a rise in K that the description states for each rack, or for all of them, and whose heat is
below that which the nodes give to the liquid at full load. It is an error.

Heat = flow × density × heat capacity × rise: with water 4.18 kJ and with a quarter of propylene glycol (PG25) 4 kJ for
each liter and K.

## Why it matters

With too little flow the coolant rises further, and the accelerators throttle, whatever the cooling distribution units can
carry.

## What to do

Raise the flow, or the rise where the cold plates allow it, or put fewer nodes in a rack.

## When to ignore it

Ignore it where the flow is that of a part of the rack.

## Fires

```yaml description
clusterspec: 1
description: The loop gives every rack 35 liters of PG25 a minute at a rise of 10 K.
cluster: {platform: mi355x-ubb8, nodes: 32, power: {node: 15.2 kW, nodes_per_rack: 4, cooling: liquid, liquid_share: 0.8}}
```

## Silent

```yaml
clusterspec: 1
description: The loop gives every rack 75 liters of PG25 a minute at a rise of 10 K.
cluster: {platform: mi355x-ubb8, nodes: 32, power: {node: 15.2 kW, nodes_per_rack: 4, cooling: liquid, liquid_share: 0.8}}
```

## Sources

- Heat capacity and density of propylene glycol, 3.92 kJ/(kg K) and 1,021 kg/m³ at 25 %: https://www.easymanua.ls/airedale/deltachill/manual?p=53
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import loop_heat
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.knowledge.written_numbers import NUMBER, number_in_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
WATER, GLYCOL = 4180.0, 4000.0
"""Joules that a liter of water, and of PG25, takes up for each K."""
_FLOW = pattern(
    rf"{NUMBER} ?(?:(?:l|lpm|liters?|litres?|liter|litros?|litri)\b(?: of [\w%/ ]{{2,20}}?)? ?(?:/|a|per|pro|par|por|al) ?(?:min\w*|minute)\b|lpm\b|l/min\b)"
)
_CUBIC_METERS = pattern(rf"{NUMBER} ?(?:m³|m3|cbm) ?(?:/|a|per|pro|par|por) ?(?:h|hours?|stunde|heure|hora)\b")
_SUPPLY = pattern(
    rf"\b(?:supply|flow temperature|vorlauf|départ|impulsión|ida|mandata|aanvoer|framledning|fremløb|turledning)\b[^.;\d]{{0,24}}{NUMBER} ?°? ?c\b|"
    rf"{NUMBER} ?°? ?c (?:supply|in(?:let)?|vorlauf|départ|aller|ida|mandata|aanvoer|frem|fram|tur)\b"
)
_RETURN = pattern(
    rf"\b(?:return|rücklauf|retour|retorno|ritorno|returledning|returløb)\b[^.;\d]{{0,24}}{NUMBER} ?°? ?c\b|"
    rf"{NUMBER} ?°? ?c (?:return|out(?:let)?|rücklauf|retour|retorno|ritorno|retur)\b"
)
_RISE = pattern(
    rf"\b(?:rise|delta[- ]?t|δt|dt|difference|temperature rise|spread|spreizung|écart|salto|erwärmung)\b[^.;\d]{{0,20}}{NUMBER} ?(?:k|°c|degc|degrees)\b|{NUMBER} ?k (?:rise|of rise|delta|difference|spread)\b"
)
_PER_RACK = pattern(r"\b(?:every|each|per|a|jede[mrs]?|chaque|cada|ogni|elk[e]?) (?:rack|cabinet)\b|/ ?rack\b")
_OF_GLYCOL = pattern(r"\b(?:pg ?-?25|glycol|glykol)\b")


def check(counts: FabricCount, power: PowerSpec, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    if power.cooling != "liquid" or not texts.remarks:
        return
    heat = loop_heat(cluster, counts.fabric, power)
    for sentence in texts.description.split(". "):
        liters, kelvin = _liters_per_minute(sentence), _rise_in(sentence)
        if heat is None or liters is None or kelvin is None:
            continue
        carried = liters / 60 * (GLYCOL if _OF_GLYCOL.search(sentence) is not None else WATER) * kelvin
        racks = cluster.all_nodes / power.nodes_per_rack if power.nodes_per_rack else 0.0
        of_rack = _PER_RACK.search(sentence) is not None
        given = heat[0] / racks if of_rack and racks else 0.0 if of_rack else heat[0]
        if 0 < carried < given:
            message = f"{liters:g} liters a minute that rise by {kelvin:g} K carry {display(carried, 'W')}, and {'a rack gives' if of_rack else 'the nodes give'} {display(given, 'W')} to the liquid at full load"
            yield RULE.problem("description", message, f"plan {liters * given / carried:,.0f} liters a minute")
            return


def _liters_per_minute(sentence: str) -> float | None:
    """The flow that a sentence states, in liters a minute; None without one.

    >>> _liters_per_minute("the loop gives 12 m³/h"), _liters_per_minute("90 liters per minute of pg25")
    (200.0, 90.0)
    """
    flow = _FLOW.search(sentence)
    if flow is not None:
        return number_in_text(flow[1])
    cubic = _CUBIC_METERS.search(sentence)
    return number_in_text(cubic[1]) * 1000 / 60 if cubic is not None else None


def _rise_in(sentence: str) -> float | None:
    """The rise of the coolant's temperature that a sentence states, in K, or gives by its supply and return; None
    without either.

    >>> _rise_in("36 °c frem og 41 °c retur")
    5.0
    >>> _rise_in("vorlauf 32 °c, rücklauf höchstens 40 °c"), _rise_in("at a rise of 10 k"), _rise_in("supply at 32 °c")
    (8.0, 10.0, None)
    """
    rise = _RISE.search(sentence)
    if rise is not None:
        return number_in_text(rise[1] or rise[2])
    supply, back = _SUPPLY.search(sentence), _RETURN.search(sentence)
    if supply is None or back is None:
        return None
    return number_in_text(back[1] or back[2]) - number_in_text(supply[1] or supply[2])
