"""A rack draws more than its power distribution units carry.

## What it finds

The power of a full rack (as in `rack-over-power-limit`) above the load of the units in `power.pdus`: voltage × current,
times √3 with three phases, times the units that are left when a feed fails (half of them with `feeds: 2N`, all but one
with `N+1`), times `derating`. It is an error above the whole rating, or above the stated derating. Without a stated
derating, or with a derating above 0.8 on a circuit of North America (208, 277 or 480 V; 15, 20, 30, 50, 60 or 100 A), a
load between 0.8 and 1 of the rating is a warning; without one on a circuit of 16, 32, 63 or 125 A and 220 to 400 V it
is a note. One unit for a rack with several feeds is an error. So are fewer quoted units per rack than `pdus.count`, in
lines of their own or included in the line of a rack. Where the design states no units, the quoted units count if their
line states volts, amperes and phases, and if the text or the quoted racks give their number per rack; units with
ratings of North America count at 0.8 of the rating.

## Why it matters

The breaker trips under load. In North America, a load of three hours or more may take 80 % of a breaker; a pair with
one unit in reserve carries half of its combined rating.

## What to do

Plan more or larger units, more phases or a higher voltage, or fewer nodes in a rack.

## When to ignore it

Ignore it where the nodes are capped below the stated power; better state the capped power.

## Fires

```yaml cluster.power.pdus
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  power: {nodes_per_rack: 4, feeds: 2N, pdus: {count: 2, voltage: 415 V, current: 60 A, phases: 3, derating: 0.8}}
```

```yaml cluster.power.pdus
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  power: {nodes_per_rack: 4, feeds: 2N, pdus: {count: 4, voltage: 400 V, current: 32 A, phases: 3}}
```

```yaml cluster.power.pdus
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  power: {nodes_per_rack: 1, feeds: 2N, pdus: {count: 1, voltage: 415 V, current: 60 A, phases: 3}}
```

```yaml cluster.power.pdus.derating
clusterspec: 1
cluster:
  platform: dgx-a100
  nodes: 12
  power: {nodes_per_rack: 3, feeds: 2N, pdus: {count: 2, voltage: 208 V, current: 60 A, phases: 3, derating: 1}}
```

```yaml procurement.quote[2].quantity
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  power: {nodes_per_rack: 2, feeds: 2N, pdus: {count: 2, voltage: 415 V, current: 60 A, phases: 3, derating: 0.8}}
procurement:
  currency: USD
  quote:
    - {part: DGX H100, quantity: 16, unit_price: 300000}
    - {part: Rack 48U, quantity: 8, unit_price: 4000}
    - {part: Rack PDU 415 V 60 A 3-phase, quantity: 8, unit_price: 2600}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  power: {nodes_per_rack: 4, feeds: 2N, pdus: {count: 4, voltage: 415 V, current: 60 A, phases: 3, derating: 0.8}}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-a100
  nodes: 12
  power: {nodes_per_rack: 3, feeds: 2N, pdus: {count: 2, voltage: 400 V, current: 32 A, phases: 3, derating: 1}}
```

## Sources

- 80 % of a breaker for loads of three hours or more, and √3 with three phases: https://www.raritan.com/blog/detail/3-phase-208v-power-strips-rack-pdus-demystified-part-ii-understanding-capacity
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import rack_power
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.readers.quotes.parts import AMPERES, PDU, UNITS_OF_RACK, VOLTS
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text, number_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import PdusSpec, PowerSpec, ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "error")
AT = "cluster.power.pdus"
CONTINUOUS = 0.8
"""Share of a breaker's rating that loads of three hours or more may use (National Electrical Code, 210.20(A))."""
AMERICAN_VOLTS = frozenset({208.0, 277.0, 480.0})
AMERICAN_AMPERES = frozenset({15.0, 20.0, 30.0, 50.0, 60.0, 100.0})
"""Ratings of plugs and breakers in North America (NEMA, series II of IEC 60309); elsewhere they are 16, 32, 63 and 125 A."""

INTERNATIONAL_VOLTS = frozenset({220.0, 230.0, 380.0, 400.0})
INTERNATIONAL_AMPERES = frozenset({16.0, 32.0, 63.0, 125.0})
"""Ratings outside North America (series I of IEC 60309); such breakers carry their rated current continuously at 30 °C
(IEC 60898-1).
"""

_THREE_PHASES = pattern(
    r"\b(?:3|three)[- ]?ph(?:ases?)?\b|\b3[- ]?(?:phasig|fas\w*|faz\w*)\b|\b(?:dreiphasig|trifás\w+|trifas\w+|triphasé\w*|trójfaz\w+)|三相|3상"
)
_ONE_PHASE = pattern(
    r"\b(?:1|one|single)[- ]?ph(?:ases?)?\b|\b(?:einphasig|mono-?f[aá]s\w+|monophasé\w*|jednof\w+)|単相|单相|單相|단상"
)
_TWO_FEEDS = pattern(
    r"\ba (?:and|&|\+|/|und|et|y|e|og|och|i|en) b\b|\ba/b\b|\beach (?:carries|feeds|holds) (?:the|a) (?:whole |full )?rack\b|\bredundant\b"
)
_SEVERAL = pattern(
    r"\b(?:pairs?|paires?|paar\w*|pares?|coppi[ae]|par|sets?|kits?|lots?|each|per|je|par rack)\b|\ba ?(?:and|&|\+|/|und|et|y|e|og|och|i|en) ?b\b"
)
"""Pattern of words in a line whose quantity counts sets of several units."""
_STARTS_PDU = pattern(r"^(?:[\w.]{1,12} ){0,3}?(?:rack )?(?:pdus?|power distribution units?)\b")
"""Pattern of the start of a line for the units as separate items."""
_PER_RACK = pattern(r"(?<![\w.])(\d) ?(?:x |units? )?(?:per|in each|je|par|por) (?:[a-z]{2,10} )?rack\b")


def check(
    deviations: Deviations, power: PowerSpec, cluster: Cluster, procurement: ProcurementSpec | None
) -> Iterator[Problem]:
    if power.pdus is None:
        if procurement is not None and procurement.quote and not deviations.has_any_of("power"):
            yield from _quoted_pdus_problem(procurement, power, cluster)
        return
    if procurement is not None and procurement.quote and power.pdus.count is not None:
        yield from _few_quoted_units_problem(procurement, power.pdus.count, cluster)
    rack, rating = rack_power(cluster, power), _unit_watts(power.pdus)
    if rack is None or rating is None or deviations.has_any_of("power"):
        return
    count = power.pdus.count or 1
    if power.pdus.count == 1 and power.feeds in {"2N", "N+1"}:
        message = f"racks have {power.feeds} feeds, but one power distribution unit has one feed"
        yield RULE.problem(AT, message, "plan a unit for each feed, or state `feeds: N`")
        return
    left = _units_after_failure(count, power.feeds)
    share, whole = power.pdus.derating or 1.0, left * rating
    carried = whole * share
    derated = f", {percent(share)} of it under a continuous load" if share < 1 else ""
    draws = f"a full rack draws {display(rack, 'W')}"
    if rack > carried:
        rated = f"of {display(rating, 'W')}{derated}"
        message = f"{draws}, but {_carried_text(left, count, rated, carried)}"
        yield RULE.problem(AT, message, "plan more or larger units, or fewer nodes in a rack")
    elif rack > CONTINUOUS * whole:
        units = f"{plural(left, 'power distribution unit')} of {display(rating, 'W')}{derated}"
        after = f"{percent(rack / whole)} of {units}" + (f" left of {count} with one feed lost" if left < count else "")
        load = f"{draws}, {after}"
        yield from _continuous_load_problem(power.pdus, load)


def _carried_text(left: int, count: int, rated: str, carried: float) -> str:
    """Text with the load that the units of a rack can carry; after the loss of a feed, ``left`` of ``count`` units
    remain.

    >>> _carried_text(1, 2, "of 14.5 kW", 14500.0)
    'with one feed lost the power distribution unit that is left, 1 of 2 of 14.5 kW, carries 14.5 kW'
    >>> _carried_text(2, 2, "of 14.5 kW", 29000.0)
    '2 power distribution units of 14.5 kW carry 29 kW'
    """
    carries = f"{'carries' if left == 1 else 'carry'} {display(carried, 'W')}"
    if left == count:
        return f"{plural(left, 'power distribution unit')} {rated} {carries}"
    units = "unit that is left" if left == 1 else "units that are left"
    return f"with one feed lost the power distribution {units}, {left} of {count} {rated}, {carries}"


_IN_RACK = pattern(
    rf"(?<![\w.])(\d|{'|'.join(NUMBER_WORDS)}) ?(?:x )?(?:\d{{1,3}} ?a )?(?:rack )?(?:pdus?|power distribution units?)\b"
)
"""Pattern of the number of units per rack in the line of a rack."""


def _few_quoted_units_problem(procurement: ProcurementSpec, count: int, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a quote with fewer units per rack than the design."""
    lines = [*offered_lines(procurement.quote or (), cluster)]
    racks = [line for line in lines if line.site_kind == "rack" and line.line.quantity]
    units = [line for line in lines if line not in racks and _STARTS_PDU.search(plain_part(line.line)) is not None]
    if any(_SEVERAL.search(plain_part(line.line)) is not None for line in units):
        return
    for line in racks:
        stated = _IN_RACK.search(plain_part(line.line))
        if stated is not None and not units and 0 < (each := count_in_text(stated[1])) < count:
            message = f"each rack of `{name_of_part(line.line.part)}` has {plural(each, 'power distribution unit')}, but `pdus.count` is {count}"
            yield RULE.problem(quote_path(line.index, "part"), message, "ask for the others", confidence="likely")
            return
    number, total = (sum_of(float(line.line.quantity or 0) for line in some) for some in (racks, units))
    if number and units and total < number * count and total % number == 0:
        message = f"the quote has {total:,.0f} power distribution units for {number:,.0f} racks, {total / number:g} each, but `pdus.count` is {count}"
        at = quote_path(units[0].index, "quantity")
        yield RULE.problem(at, message, f"ask for {number * count:,.0f}", confidence="likely")


def _quoted_pdus_problem(procurement: ProcurementSpec, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    """Problems of quoted units that cannot carry a rack, if the design states no units."""
    rack = rack_power(cluster, power) or 0.0
    for units in _quoted_pdus([*offered_lines(procurement.quote or (), cluster)]):
        redundant = power.feeds is None and _TWO_FEEDS.search(plain_part(units.line.line)) is not None
        left = _units_after_failure(units.per_rack, "2N" if redundant else power.feeds)
        carried = left * units.watts
        if rack > carried:
            told = _carried_text(left, units.per_rack, f"of `{name_of_part(units.line.line.part)}`", carried)
            message = f"a full rack draws {display(rack, 'W')}, but {told}"
            at = quote_path(units.line.index, "part")
            yield RULE.problem(at, message, "ask for more or larger units", confidence="likely")


class _QuotedPdus(NamedTuple):
    """A line for power distribution units: the continuous watts of one unit, and the number per rack.

    For North American breakers the watts are what they carry for hours.
    """

    line: Offered
    watts: float
    per_rack: int


def _quoted_pdus(lines: Sequence[Offered]) -> Iterator[_QuotedPdus]:
    """The lines for power distribution units with voltage, current and phases, whose number per rack is stated or is a
    whole number.
    """
    racks = sum_of(float(line.line.quantity or 0) for line in lines if line.site_kind == "rack")
    for line in lines:
        text = plain_part(line.line)
        volts, amperes = VOLTS.findall(text), AMPERES.findall(text)
        three = _THREE_PHASES.search(text) is not None
        phases_known = three != (_ONE_PHASE.search(text) is not None)
        if PDU.search(text) is None or not phases_known or len(volts) != 1 or len(amperes) != 1:
            continue
        stated = (UNITS_OF_RACK if line.site_kind == "rack" else _PER_RACK).search(text) or _PER_RACK.search(text)
        quantity = float(line.line.quantity or 0)
        per_rack = (
            int(stated[1]) if stated is not None else quantity / racks if racks and line.site_kind != "rack" else 0
        )
        if per_rack >= 1 and per_rack == int(per_rack):
            rated = number_in_text(volts[0]), number_in_text(amperes[0])
            american = rated[0] in AMERICAN_VOLTS and rated[1] in AMERICAN_AMPERES
            watts = rated[0] * rated[1] * (sqrt(3) if three else 1.0) * (CONTINUOUS if american else 1.0)
            yield _QuotedPdus(line, watts, int(per_rack))


def _continuous_load_problem(pdus: PdusSpec, load: str) -> Iterator[Problem]:
    """The problem of a load that is within the rating but above what breakers carry for hours; none if a stated
    derating covers it.
    """
    if pdus.derating is None:
        message = f"{load}: breakers carry {percent(CONTINUOUS)} of it for hours unless they are rated for more"
        severity = "note" if _is_international(pdus) else "warning"
        yield RULE.problem(AT, message, "state `derating`, and plan larger units where it is 0.8", severity=severity)
    elif _is_american(pdus):
        message = f"{load}: a breaker of North America carries {percent(CONTINUOUS)} of its rating for hours"
        help_ = "write `derating: 0.8`, and plan larger units; a breaker that is listed for 100 % carries more"
        yield RULE.problem(f"{AT}.derating", message, help_, severity="warning")


def _unit_watts(pdus: PdusSpec) -> float | None:
    """The watts of one unit: volts × amperes, × √3 with three phases; None if one of the three is not stated."""
    if pdus.voltage is None or pdus.current is None or pdus.phases is None:
        return None
    return pdus.voltage.value * pdus.current.value * (sqrt(3) if pdus.phases == 3 else 1.0)


def _is_american(pdus: PdusSpec) -> bool:
    """Whether the voltage or the current is a rating used only in North America."""
    volts, amperes = (given.value if given else 0.0 for given in (pdus.voltage, pdus.current))
    return volts in AMERICAN_VOLTS or amperes in AMERICAN_AMPERES


def _is_international(pdus: PdusSpec) -> bool:
    """Whether voltage and current are ratings of countries whose breakers carry their rating without a time limit."""
    volts, amperes = (given.value if given else 0.0 for given in (pdus.voltage, pdus.current))
    return volts in INTERNATIONAL_VOLTS and amperes in INTERNATIONAL_AMPERES


def _units_after_failure(count: int, feeds: str | None) -> int:
    """The number of units that still carry a rack after the loss of one feed; at least one.

    >>> _units_after_failure(4, "2N"), _units_after_failure(3, "N+1"), _units_after_failure(2, "N"), _units_after_failure(1, "2N")
    (2, 2, 2, 1)
    """
    return max(1, {"2N": count // 2, "N+1": count - 1}.get(feeds or "", count))
