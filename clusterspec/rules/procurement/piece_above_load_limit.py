"""A rack is too heavy or too high for its way to the hall.

## What it finds

- A rack whose weight a line of the quote states in kilograms, or the catalog for a rack-scale platform, where the
  description, a comment or a line states the load of a lift, or of the floor for each rack, and the rack is heavier;
- a rack whose `nodes_per_rack`, by the weights of a node and of an empty rack in the text, exceed the load of the floor there;
- a rack whose mass over the footprint that the text states is above the pressure that the floor carries (`15 kN/m2`, `900 kg/m²`);
- a rack whose mounting height by its line (`rack 52U`) exceeds the height of a door in the description or a comment.

Milestones count as lines do: the mass of a rack, and the load of a lift.

## Why it matters

A rack that is delivered as one piece stays at the loading dock. Taking it apart may end its warranty, and a stronger lift
or floor is months of construction. A rack unit is 44.45 mm, and the frame and its casters come on top.

## What to do

Ask for a delivery in parts, choose another way in or lower racks, or strengthen the floor.

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

```yaml description
clusterspec: 1
description: The racks stand on the raised floor of the old hall, which takes 1,000 kg per rack position.
cluster: {platform: gb200-nvl72, nodes: 54}
```

```yaml procurement.quote[0].part
clusterspec: 1
description: Racks arrive assembled; the door of the goods lift has a height of 2.10 m.
cluster: {platform: dgx-b200, nodes: 12}
procurement:
  currency: EUR
  quote:
    - {part: "rack 52U with PDUs", quantity: 6, unit_price: 4800}
```

```yaml description
clusterspec: 1
description: A rack weighs 1,580 kg on a footprint of 0.6 m x 1.2 m. The raised floor carries 15 kN/m2 below it.
cluster: {platform: gb300-nvl72, nodes: 144}
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

- Rack units of 44.45 mm: https://webstore.ansi.org/standards/ecia/eia310e2005
- Weight of an NVL72 rack, about 1.36 t: https://www.hpe.com/psnow/doc/a00142469enw
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.plans.floor_loads import FLOORS, GRAVITY, load_on_footprint, overload_of_floor
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, number_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.source import Path
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
UNIT = 0.04445
"""Height of a rack unit in meters."""
_MASS = r"(\d{1,3}(?:[.,' ]\d{3}){1,2}|(?<![\d.,])\d{2,5}(?:\.\d{1,2})?) ?kg\b(?! ?(?:/|per|je|pro|par|al) ?(?:m2|m²|sqm|square|quadrat|metro|mètre))"
_LIFTS = r"(?:lifts?|elevators?|hoists?|\w*aufz[uü]ge?|monte-charges?|ascenseurs?|montacargas|ascensor|elevador|montacarichi|ascensore|goederenlift|\w*hiss(?:en)?)"
_LIMITS = (
    ("the lift", pattern(rf"\b{_LIFTS}\b[^.;\d]{{0,80}}{_MASS}"), min),
    (
        "the floor",
        pattern(
            rf"\b{FLOORS}\b[^.;\d]{{0,80}}{_MASS} ?(?:per|pro|je|par|por|a|/|each|on|for|under) ?(?:a |each |one )?(?:rack|cabinet|schrank|baie|armadio)"
        ),
        max,
    ),
)
"""Load limits on the way of a rack: what carries it, the pattern of its limit in kilograms in lower case, and which of
several limits applies. For lifts it is the smallest limit, for floors the largest, since racks are placed on the
strongest floor.
"""
_RACK = pattern(r"\b(?:\w*racks?|cabinets?|\w*schr[aä]nke?n?s?|armoire|baie|armadio|armario|nvl ?\d{2,3})\b")
_MASS_OF_LINE = pattern(_MASS)
_DOOR = pattern(
    r"\b(?:doors?|doorways?|lintels?|t[üu]r(?:en)?|portes?|puertas?|portas?|porte|deur(?:en)?|dörr(?:ar)?|drzwi)\b[^.;\d]{0,40}?(?<![\w.,])([12][.,]\d{1,2}) ?m\b"
)
"""Pattern of the height of a door in meters, in a lowercase text."""
_UNITS = pattern(r"(?<![\w.,])([2-5]\d) ?(?:u|he|ru)\b")
"""Pattern of the rack units of a rack in its line."""


_EMPTY = pattern(r"\b(?:empty|leer\w*|vides?|vac[ií][oa]s?|vuot[oi]|leeg|lege)\b")
_SYSTEM = pattern(
    r"\b(?:systems?|servers?|nodes?|dgx|hgx|machines?|knoten|systeme?|maschinen?|serveurs?|nœuds?|servidor(?:es)?|nodos?|nodi|sistem[ai])\b"
)
_ON_FLOOR = pattern(rf"\b{FLOORS}\b|\bdoppelboden\b|\bstandfläche\b|\bfootprint\b")


_OF_AREA = ("/m", " m2", " m²", "square", "quadrat", "carré", "cuadrad", "vierkant")
"""Parts of words for a square meter."""


def check(
    procurement: ProcurementSpec | None, cluster: Cluster | None, remarks: str, power: PowerSpec | None
) -> Iterator[Problem]:
    text = remarks.lower()
    if "kg" in text and power is not None and power.nodes_per_rack is not None:
        yield from _loaded_rack_problem(text, power.nodes_per_rack)
    if ("kn" in text or "kg" in text) and any(each in text for each in _OF_AREA):
        yield from _high_pressure_problem(remarks[:MOST_CHARACTERS], cluster)
    if (procurement is None or not procurement.quote) and (
        cluster is None or cluster.platform is None or cluster.platform.rack_kilograms is None
    ):
        return
    parts = [line.part or "" for line in (procurement.quote if procurement is not None else None) or ()]
    planned = (
        procurement.delivery.milestones if procurement is not None and procurement.delivery is not None else None
    ) or ()
    lines = [part.lower() for part in parts]
    yield from _high_rack_problem(lines, text)
    stated = [
        (choose(masses), name)
        for name, limit, choose in _LIMITS
        if (
            masses := [
                _kilograms(mass)
                for each in (*sentences_of(text), *lines, *map(str.lower, planned))
                for mass in limit.findall(each)
            ]
        )
    ]
    if stated:
        yield from _heavy_rack_problem(parts, planned, cluster, *min(stated))


def _loaded_rack_problem(text: str, nodes: int) -> Iterator[Problem]:
    """The problem of a rack with some nodes that is heavier than the floor carries, by the weights in a lowercase text.

    >>> text = "the floor takes 500 kg at each rack position. one dgx weighs 130 kg, an empty rack 200 kg"
    >>> [each.path for each in _loaded_rack_problem(text, 4)], [*_loaded_rack_problem(text, 2)]
    ([('cluster', 'power', 'nodes_per_rack')], [])
    >>> text = "chaque machine pèse 123 kg et l'armoire vide 140 kg ; le plancher ne supporte que 680 kg par armoire"
    >>> [each.path for each in _loaded_rack_problem(text, 5)], [*_loaded_rack_problem(text, 4)]
    ([('cluster', 'power', 'nodes_per_rack')], [])
    """
    limits, racks, systems = set(), set(), set()
    for sentence in sentences_of(text):
        before = 0
        for match in islice(_MASS_OF_LINE.finditer(sentence), MOST_MATCHES):
            ahead, mass = sentence[before : match.start()], _kilograms(match[1])
            named = any(each.search(ahead) is not None for each in (_EMPTY, _SYSTEM))
            clause, before = ahead if named else clause_at(sentence, match.start(), match.end()), match.end()
            if _EMPTY.search(clause) is not None:
                racks.add(mass)
            elif _ON_FLOOR.search(sentence) is not None and _RACK.search(sentence) is not None:
                limits.add(mass)
            elif _SYSTEM.search(clause) is not None:
                systems.add(mass)
    if not limits and (carried := load_on_footprint(text)) is not None:
        limits.add(carried)
    if len(limits) != 1 or len(systems) != 1 or len(racks) > 1:
        return
    (least,), (system,), rack = limits, systems, max(racks, default=0.0)
    weight = nodes * system + rack
    if system < least < weight:
        empty = f" in a rack of {rack:,.0f} kg" if rack else ""
        message = f"{nodes} nodes of {system:,.0f} kg{empty} weigh {weight:,.0f} kg, but the floor carries {least:,.0f} kg under a rack according to the text"
        most = int((least - rack) / system)
        help_ = f"place at most {most} in a rack" if most else "spread the load, or strengthen the floor"
        yield RULE.problem("cluster.power.nodes_per_rack", message, help_)


def _high_pressure_problem(remarks: str, cluster: Cluster | None) -> Iterator[Problem]:
    """The problem of a rack that presses on the floor more than a text allows."""
    platform = cluster.platform if cluster is not None else None
    load = overload_of_floor(remarks, platform.rack_kilograms if platform is not None else None)
    if load is not None:
        message = (
            f"{load.mass:,.0f} kg on {load.area:.3g} m² exert {load.pressure * GRAVITY / 1e3:.1f} kN/m² ({load.pressure:,.0f} kg/m²), "
            f"but the floor carries {load.limit * GRAVITY / 1e3:.1f} kN/m² ({load.limit:,.0f} kg/m²) according to the text"
        )
        help_ = "spread the load by plinths or plates, place fewer nodes in a rack, or strengthen the floor"
        yield RULE.problem("description", message, help_)


def _high_rack_problem(lines: Sequence[str], text: str) -> Iterator[Problem]:
    """The problem of the line of a rack that is higher than a door on its way."""
    doors = [number_in_text(each) for each in _DOOR.findall(text)]
    for index, part in enumerate(lines) if doors else ():
        units = [int(each) for each in _UNITS.findall(part)] if _RACK.search(part) is not None else []
        if units and max(units) * UNIT > min(doors):
            message = f"a rack of {max(units)} units has {max(units) * UNIT:.2f} m of mounting height alone, but the door on its way has {min(doors):g} m according to the text"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "order lower racks, or choose another way in")
            return


def _heavy_rack_problem(
    parts: Sequence[str], planned: Sequence[str], cluster: Cluster | None, least: float, name: str
) -> Iterator[Problem]:
    """The problem of a rack that is heavier than the limit ``least`` in kilograms of the lift or floor ``name``. A line
    or milestone states its weight, else the platform does.
    """
    weighed = False
    places: list[tuple[Path, str]] = [(quote_path(index, "part"), part) for index, part in enumerate(parts)]
    places += [(("procurement", "delivery", "milestones", index), each) for index, each in enumerate(planned)]
    for at, part in places:
        text = part.lower()
        for _, limit, _ in _LIMITS:
            text = limit.sub("", text)
        masses = [*map(_kilograms, _MASS_OF_LINE.findall(text))] if _RACK.search(text) is not None else []
        weighed = weighed or bool(masses)
        if masses and max(masses) > least:
            message = f"`{name_of_part(part)}` weighs {max(masses):,.0f} kg, but {name} carries {least:,.0f} kg according to the text"
            yield RULE.problem(at, message, "ask for a delivery in parts, or choose another way in")
            return
    platform = cluster.platform if cluster is not None else None
    mass = platform.rack_kilograms if platform is not None else None
    if platform is not None and mass is not None and mass > least and not weighed:
        message = f"a rack of {platform.name} weighs about {mass:,} kg, but {name} carries {least:,.0f} kg according to the text"
        yield RULE.problem("description", message, "choose another way in or place, or strengthen the floor")


def _kilograms(digits: str) -> float:
    """The value of a mass; any sign may separate its thousands.

    >>> _kilograms("1.420"), _kilograms("1,420"), _kilograms("980"), _kilograms("980.5")
    (1420.0, 1420.0, 980.0, 980.5)
    """
    whole, _, rest = digits.replace(",", ".").replace("'", ".").replace(" ", ".").rpartition(".")
    return float(whole.replace(".", "") + rest) if whole and len(rest) == 3 else number_in_text(digits)
