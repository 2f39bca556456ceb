"""The room's air coolers remove less heat than the machine rejects to the air.

## What it finds

Air coolers that the description, the comments or the quote count with the heat that each removes, such as `four CRAH of
45 kW each`, `in-row coolers: 8 x 45 kW` or a line of a quote for as many, where `power.cooling` is stated and their
sum, those in reserve included, is below the heat that nodes, switches and racks reject to the air at full load. With
liquid cooling, that is the heat that the liquid leaves: the high end of `power.liquid_share`, or of the share of
published machines. Lines of a quote that remove less than half of the heat count as an addition and are not compared.

## Why it matters

Cold plates leave 5 to 30 % of the heat of a node to the air, and switches, storage and supplies all of theirs: a row of
liquid-cooled nodes may give the room as much heat as the air-cooled row that it replaces. The nodes then throttle
although the loop is large enough.

## What to do

Add coolers, choose nodes that give the liquid more of their heat, or connect rear doors to the loop.

## When to ignore it

Ignore it where other coolers, which the spec does not name, remove the rest.

## Fires

```yaml cluster.power.cooling
clusterspec: 1
description: Two CDUs of 1,350 kW in the loop; three CRAH, 45 kW each, for the room.
cluster: {platform: hgx-b200, nodes: 64, power: {node: 13 kW, cooling: liquid, liquid_share: 0.8}}
```

```yaml cluster.power.cooling
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 24, power: {node: 10.2 kW, cooling: air}}
procurement:
  currency: USD
  quote:
    - {part: "in-row cooler, chilled water, 45 kW", quantity: 5, unit_price: 38000, price: 190000}
```

## Silent

```yaml
clusterspec: 1
description: Two CDUs of 1,350 kW in the loop; five CRAH, 45 kW each, for the room.
cluster: {platform: hgx-b200, nodes: 64, power: {node: 13 kW, cooling: liquid, liquid_share: 0.8}}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 24, power: {node: 10.2 kW, cooling: air}}
procurement:
  currency: USD
  quote:
    - {part: "in-row cooler, chilled water, 45 kW", quantity: 7, unit_price: 38000, price: 266000}
```

## Sources

- Heat that cold plates leave to the air: https://www.leviathansystems.co/blog/liquid-cooling-requirements-blackwell
- Liquid-cooled racks need air, too: https://www.supermicro.com/en/solutions/liquid-cooling
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import loop_heat
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import is_option
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.subjects import is_of_another_room
from clusterspec.rules.readers.units import NUMBERS
from clusterspec.rules.readers.written_numbers import (
    NUMBER,
    count_in_text,
    number_in_text,
    sentences_of,
    watts_in_text,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec, ProcurementSpec, QuoteLine
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
HEAT = frozenset({"heat", "heat to air"})
"""Subjects of demands on the heat that a room takes."""
ADDITION = 0.5
"""Share of the heat up to which quoted coolers count as an addition to existing ones."""
_COOLERS = (
    r"(?:crahs?|cracs?|(?:computer[- ]room )?air (?:handlers?|handling units?|conditioners?)|"
    r"(?:in-?)?row[- ](?:coolers?|cooling units?)|fan[- ]?walls?|ahus?|(?:room |air )?cooling units?|room coolers?|split units?|"
    r"klimageräte?n?|kühlgeräte?n?|umluftkühl(?:er|geräte)n?|klimaschränken?|kältegeräte?n?|"
    r"(?:armoires?|unités?|groupes?|blocs?) (?:de climatisation|de refroidissement)|climatiseurs?|"
    r"(?:unidades|equipos|aparatos) (?:de climatización|de refrigeración|de aire acondicionado)|climatizadoras?|climatizadores|"
    r"(?:unità|macchine) (?:di condizionamento|di raffreddamento)|condizionatori|koelunits|koelmachines|airco's)\b"
)
_COUNT = rf"(?<![\w.,])(\d{{1,3}}|{'|'.join(NUMBERS)})"
_OF_ONE = r"(?:of|at|with|à|de|von|zu|mit|con|da|van)(?: je)?"
_COUNTED = (
    pattern(
        rf"{_COUNT} (?:[x×] )?(?:[^\W\d_-]{{2,16}} ){{0,3}}?{_COOLERS}[^.;\d]{{0,60}}{NUMBER} ?kw(?: [^\W\d_]+){{0,2}} (?:each|chacune?|cada un[oa]|ciascun[oa]|elk)\b"
    ),
    pattern(
        rf"{_COUNT} (?:[x×] )?(?:[^\W\d_-]{{2,16}} ){{0,3}}?{_COOLERS},?(?: [^\W\d_]{{2,16}}){{0,1}}? {_OF_ONE} {NUMBER} ?kw\b"
    ),
    pattern(rf"\b{_COOLERS}[ :(,]{{1,3}}(\d{{1,3}}) ?[x×] ?{NUMBER} ?kw\b"),
    pattern(rf"\b{_COOLERS}[ :(,]{{1,3}}{_COUNT}(?:,| of| at| with) {NUMBER} ?kw\b"),
    pattern(rf"(?<![\w.,])(\d{{1,3}}) ?[x×] ?{NUMBER} ?kw (?:[a-z-]{{2,16}} ){{0,3}}?{_COOLERS}"),
)
"""Patterns, in lower case, of a number of coolers and the heat that each removes."""
_CHILLERS = pattern(
    rf"{_COUNT} (?:[x×] )?(?:[^\W\d_-]{{2,16}} ){{0,2}}?(?:chillers?|kaltwassers[aä]tzen?|kältemaschinen?|groupes? (?:froids?|d'eau glacée)|enfriadoras?|gruppi frigoriferi|koelmachines?),?(?: [^\W\d_]{{2,16}}){{0,1}}? {_OF_ONE} {NUMBER} ?kw\b"
)
_IN_RESERVE = pattern(
    r"\b(?:n ?\+ ?1|second (?:one )?(?:is|stands)[^.;]{0,16}\b(?:reserve|standby|spare)|one (?:is |of them )?(?:in|on|as) (?:reserve|standby)|"
    r"zweite\w* (?:ist|steht|als) (?:in )?reserve|(?:le|l'autre|second) [^.;]{0,16}\bsecours|de reserva|di riserva)\b"
)
"""Patterns of the chillers of a building with the heat that each removes, and of one of them in reserve."""
_COOLING = (
    rf"(?:{_COOLERS}|chillers|kaltwassers[aä]tze|groupes froids|enfriadoras|gruppi frigoriferi|(?:air conditioning|(?:air|room) cooling|cooling of the (?:room|hall)|klimaanlage|raumkühlung|klimatisierung|"
    r"climatisation|climatización|aire acondicionado|condizionamento|airconditioning|ruimtekoeling)\b)"
)
_BUYER = pattern(
    r"(?i)\b(?:pools?|swimming|schools?|greenhouses?|district|town|city|utility|network|sold|sells?|buys?|winter|fernwärme\w*|schwimm\w*|schule\w*|gewächsh\w*|stadt\w*|verkauf\w*|piscine|écoles?|serres?|ville|réseau|hiver|vendue?|"
    r"piscina|escuela|invernadero|invierno|ayuntamiento|vend\w+|scuola|serra|inverno|comune|zwembad|school|kas|gemeente|simhall\w*|skola\w*|växthus\w*|kommun\w*|basen\w*|szkoł\w*|szklarni\w*|miast\w*|zim\w+)\b"
)
"""Words of sentences about who takes the waste heat, and when; the coolers remove the rest."""
_TOGETHER = pattern(
    rf"\b{_COOLING}[^.;\d]{{0,40}}?\b(?:removes?|takes?|carry|carries|rejects?|handles?|cools?|absorbs?|limited to|sized for|built for|designed for|"
    r"schafft|schaffen|führ(?:t|en)|nimmt|nehmen|ausgelegt (?:auf|für)|évacue(?:nt)?|enlève(?:nt)?|absorbe(?:nt)?|tient|dimensionnée? pour|extrae|retira|evacúa|dimensionad[oa] para|asporta|smaltisce|voert)\b"
    rf"[^.;\d]{{0,24}}{NUMBER} ?(k|m)w\b(?! (?:each|chacune?|je|cada))(?![^.;]{{0,24}}\b(?:racks?|schrank|baie|rows?|cabinets?)\b)"
)
_WATTS_OF_RACK = pattern(
    rf"\b{_COOLERS}[^.;\d]{{0,40}}?\b(?:removes?|takes?|cools?|absorbs?|limited to|sized for|designed for)\b[^.;\d]{{0,24}}{NUMBER} ?(k|m)w (?:[a-z]+ ){{0,2}}(?:from|of|per|for|in|by air in) (?:each |a |every )?rack\b"
)
"""Pattern of the heat that coolers remove from each rack."""
_FREE = pattern(
    rf"\b{_COOLERS}[^.;\d]{{0,40}}?\b(?:have|has|with)\b[^.;\d]{{0,24}}{NUMBER} ?(k|m)w\b(?: of)?(?: [a-z]+){{0,2}} (?:capacity|left|free|spare)\b"
)
"""Pattern of the heat that existing coolers can remove in total, or with their free capacity."""
_HEAT = pattern(
    r"\b(?:\w*w[aä]rme|heat|\w*k[üu]hl\w*|\w*kälte\w*|cool\w*|chill\w*|chaleur|froid|refroid\w*|calor\w*|frío|refriger\w*|calore|raffredd\w*|koel\w*|warmte)\b"
)
"""Words for heat and its removal, of sentences that limit it."""
_OFFERED = pattern(rf"\b{_COOLERS}")
_WATTS = pattern(rf"{NUMBER} ?kw\b")


def check(
    deviations: Deviations,
    power: PowerSpec,
    counts: FabricCount,
    cluster: Cluster,
    remarks: str,
    procurement: ProcurementSpec | None,
) -> Iterator[Problem]:
    if power.cooling is None or power.cooling == "immersion":
        return
    text = remarks.lower()
    stated, of_rack = max(_stated_watts(text), default=0.0), _watts_of_rack(text) if power.nodes_per_rack else 0.0
    fabric = None if of_rack and not stated else counts.fabric  # switches may stand in racks of their own
    drawn, loop = it_power(cluster, fabric, power), loop_heat(cluster, fabric, power)
    if drawn is None or loop is None or deviations.has_any_of("power"):
        return
    heat = drawn[0] - (loop[2] if power.cooling == "liquid" else 0.0)
    stated = stated or of_rack * parts_needed(cluster.all_nodes, power.nodes_per_rack or 1)
    if not stated and power.cooling == "air" and _HEAT.search(text) is not None:
        from clusterspec.rules.readers.demands.reading import demands_in  # for texts about heat alone

        stated = max(
            (
                each.value
                for each in demands_in(remarks[:MOST_CHARACTERS])
                if each.subject.name in HEAT and _BUYER.search(each.sentence) is None
            ),
            default=0.0,
        )
    water = _water_temperature(text)
    bought = _bought_watts(procurement.quote, water) if procurement is not None and procurement.quote else 0.0
    removed = stated or (bought if bought > ADDITION * heat else 0.0)
    if 0 < removed < heat:
        message = f"{display(heat, 'W')} of heat to the air at full load exceed the {display(removed, 'W')} that the {'stated' if stated else 'quoted'} coolers of the room remove"
        yield RULE.problem("cluster.power.cooling", message, "add coolers, or let the liquid take up more of the heat")


def _watts_of_rack(text: str) -> float:
    """The watts that the coolers in a lowercase text remove from each rack; 0 if it states none.

    >>> _watts_of_rack("the air handlers of the hall take up at most 8 kw from each rack")
    8000.0
    """
    match = _WATTS_OF_RACK.search(text)
    return watts_in_text(match[1], match[2]) if match is not None else 0.0


def _stated_watts(text: str) -> Iterator[float]:
    """The watts that the coolers in each lowercase sentence remove in total.

    >>> [*_stated_watts("the four crah of the hall are kept, 45 kw sensible each. in-row coolers: 8 x 45 kw")]
    [180000.0, 360000.0]
    >>> [*_stated_watts("the fan walls of the hall remove 100 kw of air heat")]
    [100000.0]
    >>> [*_stated_watts("the heat goes to the crahs (four, 20 kw each). the crahs have 60 kw of free capacity in all")]
    [80000.0, 60000.0]
    >>> [*_stated_watts("refroidie par deux armoires de climatisation de 20 kw chacune; drei klimageräte zu je 15 kw")]
    [40000.0, 45000.0]
    >>> [*_stated_watts("the two chillers of hall b together take 165 kw of heat out of the room")]
    [165000.0]
    >>> [*_stated_watts("two chillers of 200 kw; the second one is the reserve")]
    [200000.0]
    """
    for sentence in sentences_of(text):
        if is_of_another_room(sentence):
            continue
        if (chillers := _CHILLERS.search(sentence)) is not None:
            running = count_in_text(chillers[1]) - (_IN_RESERVE.search(text) is not None)
            yield running * number_in_text(chillers[2]) * 1e3
            continue
        found = next((match for one in _COUNTED if (match := one.search(sentence)) is not None), None)
        if found is not None:
            count = count_in_text(found[1])
            yield count * number_in_text(found[2]) * 1e3
        elif (whole := _TOGETHER.search(sentence) or _FREE.search(sentence)) is not None:
            yield watts_in_text(whole[1], whole[2])


_WATER = pattern(
    r"\b(?:chilled water|water|kaltwasser|eau glacée|agua fría|acqua refrigerata)\b[^.;\d]{0,24}?(\d{1,2}(?:[.,]\d)?) ?°? ?c\b"
)
_AT_WATER = pattern(rf"{NUMBER} ?kw\b[^.;,()\d]{{0,16}}?(\d{{1,2}}(?:[.,]\d)?) ?°? ?c\b")
"""Pattern of the heat that a cooler removes at a stated water temperature."""


def _water_temperature(text: str) -> float | None:
    """Temperature in °C of the water that the building supplies, by the description; None unless it states one."""
    found = {number_in_text(each) for each in _WATER.findall(text)}
    return found.pop() if len(found) == 1 else None


def _watts_at(text: str, water: float | None) -> list[float]:
    """The kilowatts that a line states for one cooler; if it states several, the value for the water temperature.

    >>> line = "in-row cooler, 45 kw at 7 °c supply (27 kw at 18 °c supply)"
    >>> _watts_at(line, 18.0), _watts_at(line, None)
    ([27.0], [45.0, 27.0])
    """
    at_water = [number_in_text(power) for power, celsius in _AT_WATER.findall(text) if number_in_text(celsius) == water]
    return at_water[:1] or [number_in_text(each) for each in _WATTS.findall(text)]


def _bought_watts(lines: Sequence[QuoteLine], water: float | None) -> float:
    """The watts that all quoted coolers remove with water of this temperature; 0 if a line does not state how much one
    removes.
    """
    total = []
    for line in lines:
        text = plain_part(line)
        if _OFFERED.search(text) is None or is_credit(line) or is_option(line):
            continue
        watts = _watts_at(text, water)
        if len(watts) != 1 or line.quantity is None:
            return 0.0
        total.append(line.quantity * watts[0] * 1e3)
    return sum_of(total)
