"""The power of the site is below the power that machine and cooling draw together.

## What it finds

A text with one power that includes cooling (`grid connection of 150 kW, cooling included`; `chillers hang behind the same
meter`), below the machine's power at full load × `procurement.pue`. Of several powers in such a text, the one that
`cluster.power.budget` has.

## Why it matters

`cluster.power.budget` is the power of the machine alone. A contract with the utility, or a transformer, carries cooling,
lighting and losses, too: PUE 1.35 takes a quarter of it. Above it the utility asks for a penalty, or a breaker opens.

## What to do

Contract more power, or run fewer nodes or lower power limits.

## When to ignore it

Ignore it where other supplies carry the cooling.

## Fires

```yaml description
clusterspec: 1
description: "The contracted power of the room is 150 kW, cooling included."
cluster: {platform: hgx-b200, nodes: 8, power: {node: 14.3 kW}}
procurement: {currency: USD, pue: 1.35}
```

```yaml description
clusterspec: 1
description: "The grid operator grants 2 MW at the transformer; chillers and UPS hang behind the same meter. The IT load is 1.9 MW."
cluster: {platform: dgx-h200, nodes: 176, power: {node: 10.2 kW, budget: 2 MW}}
procurement: {currency: EUR, pue: 1.4}
```

## Silent

```yaml
clusterspec: 1
description: "The contracted power of the room is 180 kW, cooling included."
cluster: {platform: hgx-b200, nodes: 8, power: {node: 14.3 kW}}
procurement: {currency: USD, pue: 1.35}
```

## Sources

- Power usage effectiveness is the power of the site divided by the power of the IT equipment: ISO/IEC 30134-2
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.written_numbers import total_watts_in
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_OF_SITE = pattern(
    r"\b(?:contract(?:ed)?|grid|utility|connection|transformer|feeder|site power|netzanschluss\w*|anschlussleistung|trafo\w*|raccordement|souscrite?|acometida|allacciamento|netaansluiting|elnät\w*)\b"
)
_WITH_COOLING = pattern(
    r"\b(?:cooling included|includ\w+ (?:the )?cooling|with (?:its |the )?cooling|it and cooling|cooling and it|inkl\w*\.? kühlung|mit kühlung|refroidissement (?:compris|inclus)|"
    r"refrigeración incluida|raffreddamento compreso|inclusief koeling|inklusive kyl\w*|"
    r"(?:chillers?|cooling|pumps?|kühlung|kältemaschinen?|pumpen|refroidissement|groupes? froids?|climatisation|refrigeración|enfriadora\w*)\b[^.;]{0,60}?\b(?:behind|on|at|from|hinter|an|derrière|sur|detrás|por) (?:the same|that|demselben|derselben|diesem|le même|la même|el mismo|la misma) (?:meter|feed|connection|supply|transformer|zähler|anschluss|einspeisung|trafo|compteur|raccordement|contador|acometida))\b|냉방 ?포함|空調込|冷却込|含制冷|含冷卻"
)


def check(
    counts: FabricCount,
    power: PowerSpec | None,
    cluster: Cluster,
    procurement: ProcurementSpec,
    texts: PurchaseTexts,
) -> Iterator[Problem]:
    if procurement.pue is None or cluster.cloud:
        return
    drawn = it_power(cluster, counts.fabric, power)
    if drawn is None:
        return
    needed = drawn[0] * procurement.pue
    budget = power.budget.value if power is not None and power.budget is not None else None
    for (at, text), (_, behind) in pairwise([*texts.placed, ((), "")]):
        stated = total_watts_in(text)
        if _OF_SITE.search(text) is None or _WITH_COOLING.search(f"{text}. {behind}") is None:
            continue
        given = budget if budget in stated else next(iter(stated)) if len(stated) == 1 else None
        if given is not None and given < needed:
            message = f"the site gives {display(given, 'W')} with cooling according to the text, but {display(drawn[0], 'W')} at full load are {display(needed, 'W')} with a PUE of {procurement.pue:g}"
            yield RULE.problem(at, message, "contract more power, or limit that of the nodes")
            return
