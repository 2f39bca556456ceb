"""The fuel of the generators does not last for the hours that the text asks for.

## What it finds

A description with one tank (`990 litres`), the liters that a kilowatt-hour takes (`0.25 litre per kWh`) and the hours
without refueling, where the tank is empty sooner at the full load of the machine, with cooling by `procurement.pue`.

## Why it matters

A mains failure of a day is what the generators are for. An empty tank switches the machine off, and checkpoints with it.

## What to do

Order a larger tank, or a contract for refueling within the time that the tank lasts.

## When to ignore it

Ignore it where the generators carry only a part of the machine.

## Fires

```yaml description
clusterspec: 1
description: "The generator runs 24 h without refuelling; its tank has 990 litres, and it burns 0.25 litre per kWh."
cluster: {platform: dgx-h200, nodes: 32, power: {cooling: air}}
procurement: {currency: USD, pue: 1.5}
```

## Silent

```yaml
clusterspec: 1
description: "The generator runs 24 h without refuelling; its tank has 3,990 litres, and it burns 0.25 litre per kWh."
cluster: {platform: dgx-h200, nodes: 32, power: {cooling: air}}
procurement: {currency: USD, pue: 1.5}
```

## Sources

- The arithmetic: liters are kilowatts × hours × liters a kilowatt-hour.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.knowledge.written_numbers import NUMBER, number_in_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_LITER = r"(?:l|litres?|liters?|liter|litros?|litri)"
_BURNED = pattern(rf"{NUMBER} ?{_LITER} ?(?:/|per|a|an|each|pro|par|por) ?kwh\b")
_TANK = pattern(rf"{NUMBER} ?{_LITER}\b(?! ?(?:/|per|a |an |each|pro|par|por))")
_HOURS = pattern(
    r"(?<![\w.,])(\d{1,3}) ?(?:h|hours|stunden|heures|horas|ore|uur|timmar|timer)\b (?:at full load )?(?:without (?:being )?refuel\w*|of fuel|of autonomy|autonomy|ohne nachtanken|sans ravitaillement|"
    r"sin repostar|runtime)|\b(?:autonomy|autonomie|autonomía|runtime) (?:of|von|de|di)? ?(\d{1,3}) ?(?:h|hours|stunden|heures|horas|ore)\b"
)


def check(counts: FabricCount, power: PowerSpec | None, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    if "kwh" not in texts.remarks.lower() or cluster.cloud:
        return
    text = texts.description
    burned, hours = _BURNED.findall(text), _HOURS.findall(text)
    if len(burned) != 1 or len(hours) != 1:
        return
    tanks = {number_in_text(each) for each in _TANK.findall(text)}
    drawn = it_power(cluster, counts.fabric, power)
    if len(tanks) != 1 or drawn is None:
        return
    watts = drawn[0] * (texts.procurement.pue or 1.0)
    (liters,), asked = tanks, float(hours[0][0] or hours[0][1])
    needed = watts / 1e3 * asked * number_in_text(burned[0])
    if 0 < liters < needed:
        message = f"{liters:,.10g} liters last {asked * liters / needed:.1f} h at {display(watts, 'W')}, and the text asks for {asked:g} h: {needed:,.0f} liters"
        yield RULE.problem("description", message, "order a larger tank, or a contract for refueling")
