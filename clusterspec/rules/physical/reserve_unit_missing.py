"""The text lets one unit of cooling or power be out at full load, and the others do not carry the load.

## What it finds

A sentence that allows one cooling distribution unit, chiller, uninterruptible power supply (UPS), generator or transformer to fail
or to be serviced while the machine runs at full load, or that calls them `N+1`, where the units without one carry less than the
machine needs: the heat to liquid for the units of a coolant loop, the power of all IT equipment for the others. Units are those of
`power.cdus`, or a number of units of a stated rating in the text.

## Why it matters

The redundancy that operations count on does not exist: the first service day, or the first failure, throttles or stops the
machine.

## What to do

Add a unit, take larger ones, or plan the service days with a part of the machine switched off, and say so.

## When to ignore it

Ignore it where the units feed a part of the machine only.

## Fires

```yaml description
clusterspec: 1
description: Either CDU can be valved off for a service day while all eight racks go on training at full power.
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {count: 2, capacity: 600 kW, redundancy: N}}
```

```yaml description
clusterspec: 1
description: Three generators of 250 kW feed the hall. One of them may fail without any effect on the training.
cluster: {platform: dgx-h200, nodes: 64, power: {node: 10.2 kW, nodes_per_rack: 4, cooling: air}}
```

## Silent

```yaml
clusterspec: 1
description: Either CDU can be valved off for a service day while all eight racks go on training at full power.
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {count: 2, capacity: 1.3 MW, redundancy: N}}
```

```yaml
clusterspec: 1
description: Two generators of 400 kW feed the hall. While one of them is serviced, half of the nodes are switched off.
cluster: {platform: dgx-h200, nodes: 64, power: {node: 10.2 kW, nodes_per_rack: 4, cooling: air}}
```

## Sources

- Redundancy of units, N and N+1: https://aidatacenterguide.com/part-5-cooling-and-thermal-management/5-6-cdus-and-the-secondary-loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import cooling_units, loop_heat
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.rules.knowledge.written_numbers import NUMBER, count_in_text, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


class UnitKind(NamedTuple):
    """A kind of units: its name, the pattern of its names in texts, and whether its load is the heat to liquid."""

    name: str
    words: str
    cools_liquid: bool = False


KINDS = (
    UnitKind("cooling distribution unit", r"cdus?|cool(?:ant|ing) distribution units?", cools_liquid=True),
    UnitKind("chiller", r"chillers?|dry coolers?|kältemaschinen?", cools_liquid=True),
    UnitKind("UPS", r"ups(?:es)?|uninterruptible power suppl(?:y|ies)|usv(?:-anlagen?)?"),
    UnitKind("generator", r"generators?|gensets?|notstromaggregate?n?"),
    UnitKind("transformer", r"transformers?|transformator(?:en)?"),
)
_OUT = (
    r"(?:fails?|failed|failing|lost|out of service|out|offline|valved off|switched off|turned off|off|down|serviced|service|maintained|"
    r"maintenance|isolated|removed|taken (?:out|down|offline)|unavailable|replaced|repaired|ausfallen|ausfällt|gewartet)"
)
_ONE_OUT = {
    kind.name: pattern(
        r"\b(?:either|any|any one|one|a single|each|jede[rs]?|eine[rs]?)(?: of (?:the|them|these|two|three|four|five|six|\d))?(?: \w+)?"
        rf"(?: (?:{kind.words}|units?))?\b[^.;]{{0,24}}\b{_OUT}\b"
    )
    for kind in KINDS
}
"""One unit that is out of service, by the name of its kind."""
_LOSS = pattern(
    r"\b(?:loss|failure|outage|maintenance|service|ausfall) of (?:one|any|a|either|a single|any one|each)\b"
)
_ALONE = pattern(r"\b(?:either|each|any|one)\b[^.;]{0,24}\balone\b")
_REDUNDANT = {
    kind.name: pattern(
        rf"(?:\b(?:{kind.words})\b[^.;]{{0,40}}\bn ?\+ ?1|\bn ?\+ ?1\b[^.;]{{0,24}}\b(?:{kind.words}))\b"
    )
    for kind in KINDS
}
_NAMED = {kind.name: pattern(rf"\b(?:{kind.words})\b") for kind in KINDS}
_REFERRED = pattern(r"\b(?:of them|of these|units?)\b")
_RATED = {
    kind.name: pattern(
        rf"(?<![\w.,])(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:[x×] )?(?:[a-z-]{{2,12}} ){{0,2}}?(?:{kind.words})"
        rf" (?:of|with|at|rated|à|mit|zu|je)(?: [a-z]+)? ?{NUMBER} ?(k|m)(?:w|va)\b"
    )
    for kind in KINDS
}
"""A number of units and the rating of each, in watts or volt-amperes."""
_FULL = pattern(
    r"(?i)\b(?:full (?:power|load|rate|speed|output|heat)|without (?:any |a )?(?:effect|impact|throttl\w+|derat\w+|loss|reduc\w+|interrupt\w+|slow\w+|capping)|"
    r"carr(?:y|ies) (?:all|the (?:whole|full|entire|rest|load|heat)|everything)|(?:all|whole|entire)\b.{0,40}\b(?:run|runs|go|goes|train|trains|keep|keeps|continue|continues|stay|stays)|"
    r"go(?:es)? on|unaffected|uninterrupted|no (?:effect|impact|throttling|derating|loss of|interruption)|keeps? (?:running|training|serving)|continues?|n ?\+ ?1|volle[rn]? last)\b"
)
"""Words of a machine that goes on as before."""
_LESS = pattern(
    r"(?i)\b(?:not|cannot|no (?:redundan\w+|reserve|spare)|(?<!without )throttl\w+|(?<!without )(?:derat|reduc|capp)\w+|half of|part of|a third|slower|lower|capped|powered down|"
    r"shut down|would|should|until|unless|only if|option|idle|stops?|nicht|at night|one rack)\b"
)
"""Words of a machine that does less meanwhile, of conditions and of wishes."""


def check(own_remarks: str, power: PowerSpec | None, cluster: Cluster, counts: FabricCount) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = own_remarks.lower()
    sentences = sentences_of(folded)
    for kind in KINDS:
        demand = next((each for each in sentences if _allows_loss(each, kind)), "")
        units = _units(sentences, kind, power) if demand else None
        if units is None or units[0] < 1:
            continue
        load = _load(kind, cluster, counts, power)
        left = (units[0] - 1) * units[1]
        if load is None or left >= load:
            continue
        what = "of heat to liquid" if kind.cools_liquid else "of the IT equipment"
        named = display(units[1], "W")
        message = (
            f"the text lets one {kind.name} be out at full load, and {units[0] - 1} of {units[0]} units of {named} carry "
            f"{display(left, 'W')} of the {display(load, 'W')} {what}"
        )
        yield RULE.problem("description", message, "add a unit, or say what stops meanwhile")
        return


def _allows_loss(sentence: str, kind: UnitKind) -> bool:
    """Whether a sentence lets one of the given units be out while the machine runs as before.

    >>> _allows_loss("either cdu can be valved off while all racks go on training at full power", KINDS[0])
    True
    >>> _allows_loss("when one cdu fails, half of the racks are powered down", KINDS[0])
    False
    """
    if _NAMED[kind.name].search(sentence) is None and _REFERRED.search(sentence) is None:
        return False
    if _LESS.search(sentence) is not None or _FULL.search(sentence) is None:
        return False
    return any(
        each.search(sentence) is not None for each in (_LOSS, _ALONE, _ONE_OUT[kind.name], _REDUNDANT[kind.name])
    )


def _units(sentences: Sequence[str], kind: UnitKind, power: PowerSpec | None) -> tuple[int, float] | None:
    """The number of units of a kind, and the watts of each: of the keys, else as the text states them."""
    stated = cooling_units(power) if kind is KINDS[0] else None
    if stated is not None:
        return (stated.installed, stated.capacity) if not stated.spare else None  # `cdus-below-heat` counts spare units
    found = {(match[1], match[2], match[3]) for each in sentences for match in _RATED[kind.name].finditer(each)}
    if len(found) != 1:
        return None
    count, rating, scale = next(iter(found))
    return count_in_text(count), number_in_text(rating) * (1e6 if scale == "m" else 1e3)


def _load(kind: UnitKind, cluster: Cluster, counts: FabricCount, power: PowerSpec | None) -> float | None:
    """The watts that the units have to carry, at the low end of their range; None if not known."""
    if kind.cools_liquid:
        heat = loop_heat(cluster, counts.fabric, power)
        return heat[0] if heat is not None and power is not None and power.cooling != "air" else None
    drawn = it_power(cluster, counts.fabric, power)
    return drawn[0] if drawn is not None else None
