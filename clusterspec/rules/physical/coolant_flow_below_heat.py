"""The flow of the coolant does not carry the heat of the racks.

## What it finds

A flow (in liters a minute or a second, m³ an hour, or gallons a minute) and a rise in K that the description states for
each rack, or for all of them, and whose heat is below the heat that the nodes give to the liquid at full load. It is an
error. The rule also reports a flow per kilowatt that carries less than a kilowatt. The temperatures may be in another
sentence if no other sentence states any.

Heat = flow × density × heat capacity × rise: with water 4.18 kJ and with a quarter of propylene glycol (PG25) 4 kJ for
each liter and K.

## Why it matters

With too little flow the coolant rises further, and the accelerators throttle, whatever the cooling distribution units can
carry.

## What to do

Raise the flow, or the rise where the cold plates allow it, or put fewer nodes in a rack.

## When to ignore it

Ignore it where the flow cools only a part of the rack.

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
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import loop_heat
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.written_numbers import (
    MOST_MATCHES,
    NUMBER,
    is_of_another_machine,
    large_number_in_text,
    number_in_text,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
WATER, GLYCOL = 4180.0, 4000.0
"""Heat capacity of water and of PG25, in J per liter and K."""
_LITER = r"(?:l|liters?|litres?|liter|litros?|litri)\b(?: (?:of |d['’]|de |di )[\w%/ ]{2,20}?| \w{4,12})? ?(?:/|a|per|pro|par|por|al)"
_FLOW = pattern(
    rf"{NUMBER} ?(?:(?P<minute>{_LITER} ?(?:min\w*|minute)\b|lpm\b|l/min\b)|(?P<second>{_LITER} ?(?:s|sec|second|sekunde|seconde|segundo)\b|lps\b)|"
    r"(?P<hour>(?:m³|m3|cbm|cubic met(?:er|re)s?) ?(?:/|a|an|per|pro|par|por) ?(?:h|hr|hours?|stunde|heure|hora)\b)|"
    r"(?P<gallon>(?:us )?gpm\b|gal(?:lons?)? ?(?:/|a|per) ?min\w*))"
)
_LITERS = {"minute": 1.0, "second": 60.0, "hour": 1000 / 60, "gallon": 3.785411784}
"""For each unit of flow, its liters per minute."""
_OF_AIR = pattern(r"\b(?:air|airflow|luft\w*|aire|fans?|crahs?|cracs?|hall|exhaust)\b")
_TOTAL = pattern(
    r"\b(?:in (?:total|all|sum)|total\w*|together|altogether|overall|for all|(?:whole|entire) (?:loop|plant|building|hall|machine|cluster)|insgesamt|gesamt\w*|zusammen|au total|en tout|en total|in totale|totaal|totalt)\b"
)
_PER_KILOWATT = pattern(r"^ ?(?:/|per|a|for each|each|pro|je|par|por) ?kw\b")
_OF_UNIT = pattern(
    r"\b(?:per|each|every|a|je|pro|par|chaque|cada|por) (?:cdu|pump|tray|node|server|plate|cold plate|unit|row|manifold|quick|branch)s?\b"
)
"""Pattern of words for the flow of a smaller or other part, such as one pump."""
_SUPPLY = pattern(
    rf"\b(?:supply|flow temperature|vorlauf|départ|impulsión|ida|mandata|aanvoer|framledning|fremløb|turledning)\b[^.;\d]{{0,24}}{NUMBER} ?°? ?c\b|"
    rf"{NUMBER} ?°? ?c (?:supply|in(?:let)?|vorlauf|départ|aller|ida|mandata|aanvoer|frem|fram|tur)\b"
)
_RETURN = pattern(
    rf"\b(?:return|rücklauf|retour|retorno|ritorno|returledning|returløb)\b[^.;\d]{{0,24}}{NUMBER} ?°? ?c\b|"
    rf"{NUMBER} ?°? ?c (?:return|out(?:let)?|rücklauf|retour|retorno|ritorno|retur)\b"
)
_RISE = pattern(
    rf"\b(?:rise[sn]?|rising|warms?(?: up)?|heats? up|increases?|erwärmt|steigt|monte|sube|delta[- ]?t|δt|dt|difference|temperature rise|spread|spreizung|écart|salto|erwärmung)\b[^.;\d]{{0,60}}?{NUMBER} ?(?:k|°c|degc|degrees)\b|{NUMBER} ?k (?:rise|of rise|delta|difference|spread|spreizung|differenz|erwärmung|temperaturhub|écart|salto)\b"
)
_CLAUSE = pattern(r"[,;:()]|\b(?:which is|that is|i\.e\.|das sind|soit|es decir)\b")
_COOLANT = pattern(r"\b(?:coolant|water|pg ?-?25|glycol|loop|liquid|cold plates?|wasser|eau|agua|acqua|vatten)\b")
ROUNDED = 0.001
"""Relative shortage that rounding explains."""
SAME = 0.95
"""Share of a kilowatt that a flow stated per kilowatt must carry; less than 1 because both figures are rounded."""
_PER_RACK = pattern(
    r"\b(?:every|each|per|a|one|ein(?:e[mrs]?)?|une?|jede[mrs]?|pro|je|par|por|chaque|cada|ogni|elk[e]?) (?:rack|cabinet|schrank|baie|armoire|armario|armadio|kast)s?\b|/ ?rack\b"
)
_OF_GLYCOL = pattern(r"(?<!ohne )(?<!without )(?<!no )(?<!sans )(?<!sin )\b(?:pg ?-?25|glycol|glykol)\b")


def check(counts: FabricCount, power: PowerSpec, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    if power.cooling != "liquid" or not texts.remarks:
        return
    heat = loop_heat(cluster, counts.fabric, power)
    rises = {rise for each in texts.sentences if (rise := _rise_in(each)) is not None}
    glycol = _OF_GLYCOL.search(texts.description) is not None
    racks = cluster.all_nodes / power.nodes_per_rack if power.nodes_per_rack else 0.0
    for sentence in texts.sentences:
        if is_of_another_machine(sentence):
            continue
        kelvin = _rise_in(sentence) or (next(iter(rises)) if len(rises) == 1 else None)
        for flow in _flows_in(sentence) if kelvin is not None and heat is not None else ():
            if kelvin is None or heat is None:
                continue
            in_glycol = _OF_GLYCOL.search(sentence) is not None or (glycol and _rise_in(sentence) is None)
            carried = flow.liters / 60 * (GLYCOL if in_glycol else WATER) * kelvin
            given = {"rack": heat[0] / racks if racks else 0.0, "kw": 1000.0 * SAME, "all": heat[0]}[flow.of]
            whose = {"rack": "a rack gives", "kw": "it is for", "all": "the nodes give"}[flow.of]
            if 0 < carried < given * (1 - ROUNDED):
                message = f"{flow.liters:g} liters a minute that rise by {kelvin:g} K carry {display(carried, 'W')}, but {whose} {display(given / (SAME if flow.of == 'kw' else 1), 'W')} to the liquid at full load"
                yield RULE.problem(
                    "description",
                    message,
                    f"plan {flow.liters * given / carried:,.{0 if flow.of != 'kw' else 2}f} liters a minute",
                )
                return


class _Flow(NamedTuple):
    """A flow in liters per minute: of one ``rack``, per ``kw`` of heat, or of ``all`` racks of the machine."""

    liters: float
    of: str


def _flows_in(sentence: str) -> Iterator[_Flow]:
    """The coolant flows that a lowercase sentence states.

    >>> [*_flows_in("the loop gives 12 m³/h"), *_flows_in("90 liters per minute of pg25 for each rack"), *_flows_in("20 gpm a cdu")]
    [_Flow(liters=200.0, of='all'), _Flow(liters=90.0, of='rack')]
    >>> [*_flows_in("640 l/min in total, which is 80 l/min at the manifold of each rack")]
    [_Flow(liters=640.0, of='all'), _Flow(liters=80.0, of='rack')]
    >>> [*_flows_in("1.5 l/min per kw"), *_flows_in("the fans move 4,000 m3/h of air")]
    [_Flow(liters=1.5, of='kw')]
    """
    matches = [*islice(_FLOW.finditer(sentence), MOST_MATCHES)]
    for index, match in enumerate(matches):
        begin = matches[index - 1].end() if index else 0
        before = _CLAUSE.split(sentence[begin : match.start()])[-1] if index else sentence[: match.start()]
        end = matches[index + 1].start() if index + 1 < len(matches) else len(sentence)
        behind = sentence[match.end() : end]
        near = f"{before} {match[0]} {_CLAUSE.split(behind)[0] if index + 1 < len(matches) else behind}"
        if _OF_AIR.search(near) is not None and _COOLANT.search(near) is None:
            continue
        liters = large_number_in_text(match[1]) * _LITERS[match.lastgroup or "minute"]
        if _PER_KILOWATT.search(behind) is not None:
            yield _Flow(liters, "kw")
        elif _OF_UNIT.search(near) is not None and _PER_RACK.search(near) is None:
            continue
        else:
            of_rack = _PER_RACK.search(near) is not None and _TOTAL.search(behind[:20]) is None
            yield _Flow(liters, "rack" if of_rack else "all")


def _rise_in(sentence: str) -> float | None:
    """The rise of the coolant's temperature in K, as a sentence states it or by its supply and return; None if it
    states neither.

    >>> _rise_in("36 °c frem og 41 °c retur")
    5.0
    >>> _rise_in("bei 10 k spreizung 13 liter pro minute")
    10.0
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
