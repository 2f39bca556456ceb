"""Fuel or batteries do not last for the time that the text asks for.

## What it finds

- A description with one tank (`990 litres`), the liters per kilowatt-hour (`0.25 litre per kWh`) and the hours without
  refueling, where the tank is empty sooner at the full load of the machine, with cooling by `procurement.pue`.
- Batteries of the quote (`2 × 100 kWh`) that hold less energy than the machine draws during the time that the
  description gives them.
- One or two sentences with a tank, the liters per hour of a generator and its hours, where the tank holds less than the
  product; or with the energy of batteries, a power and its minutes.

## Why it matters

The generators are there for a mains failure of a day. An empty tank switches the machine off, and checkpoints with it.

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

```yaml procurement.quote[0].quantity
clusterspec: 1
description: The batteries carry the whole machine at full load for four hours.
cluster: {platform: dgx-h200, nodes: 8, power: {cooling: air}}
procurement: {currency: USD, pue: 1.1, quote: [{part: "Battery cabinet, 100 kWh", quantity: 2, price: 90000}]}
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
from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.units import NUMBER_WORDS, word_set
from clusterspec.rules.readers.written_numbers import (
    NUMBER,
    count_in_text,
    has_unit,
    large_number_in_text,
    number_in_text,
    sentences_with_neighbors,
    time_in_text,
)
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_LITER = r"(?:l|litres?|liters?|liter|litros?|litri)"
_BURNED = pattern(rf"{NUMBER} ?{_LITER} ?(?:/|per|a|an|each|pro|par|por) ?kwh\b")
_TANK = pattern(rf"{NUMBER} ?{_LITER}\b(?! ?(?:/|per|a |an |each|pro|par|por))")
_HOURS = pattern(
    r"(?<![\w.,])(\d{1,3}) ?(?:h|hours|stunden|heures|horas|ore|uur|timmar|timer)\b (?:at full load )?(?:without (?:being )?refuel\w*|of fuel|of autonomy|autonomy|ohne nachtanken|sans ravitaillement|"
    r"sin repostar|runtime)|\b(?:autonomy|autonomie|autonomía|runtime) (?:of|von|de|di)? ?(\d{1,3}) ?(?:h|hours|stunden|heures|horas|ore)\b"
)


_BATTERY = pattern(r"\b(?:batter(?:y|ies)|batterien?|accumulat\w*|baterías?|batterie|accus?|bess)\b")
_STORED = pattern(rf"{NUMBER} ?(k|m)wh\b")
_CARRIED = pattern(
    rf"\b(?:batter\w*|accus?|bess)\b[^.;]{{0,80}}?\b(?:for|during|over) (?:(\d{{1,3}})|({'|'.join(NUMBER_WORDS)})) ?(hours?|h|minutes?|min)\b"
)
"""Pattern of the time for which batteries carry the machine."""


_BURNED_HOURLY = pattern(
    rf"{NUMBER} ?{_LITER} ?(?:/|per|a|an|each|pro|par|por) ?(?:h|hr|hours?|stunde|heure|hora|ora)\b"
)
_ALONE = pattern(
    rf"(?i){_LITER} ?(?:/|per|a|an|each|pro|par|por) ?(?:h|hr|hours?|stunde|heure|hora|ora)\b|\dk?M?Wh\b|\d [kM]Wh\b"
)
"""Pattern of figures with which one sentence states everything about a tank or about batteries."""
_RUN = pattern(r"(?<![\w.,])(\d{1,3}) ?(?:h|hours|stunden|heures|horas|ore|uur)\b(?! ?(?:to|bis|-) ?\d)")
_DAYS = pattern(r"(?<![\w.,])(\d{1,2}) (?:days|tage|jours|días|giorni)\b")
_MINUTES = pattern(r"(?<![\w.,-])(\d{1,3}) ?(?:min(?:utes?|uten)?|minutos|minuti)\b")
_POWER = pattern(rf"{NUMBER} ?(k|m)w\b(?!h)")
_OF_BATTERY = pattern(r"\b(?:batter(?:y|ies)|batterien?|baterías?|accus?|bess|ups|usv|onduleurs?|sai)\b")
_NOT_WHOLE = pattern(
    r"\b(?:half|part|until|each|per|single|one of|beyond|more than|rather|not|only|instead|recharg\w*|shutdown)\b"
)


def _contradiction_within_text(text: str) -> tuple[str, str] | None:
    """The message and the remedy for text whose tank, consumption and hours, or energy, power and minutes, contradict
    each other; else None.

    >>> _contradiction_within_text("the generator burns 280 l/h, and its tank of 5,000 l lasts 24 h")
    ('5,000 liters last 17.9 h at 280 liters an hour, but the text asks for 24 h', 'order a larger tank, or a contract for refueling')
    >>> _contradiction_within_text("the ups batteries of 200 kwh carry 1.2 mw for 15 minutes")
    ('batteries of 200 kWh carry 1.2 MW for 10 minutes, but the text asks for 15', 'order more batteries, or plan with a shorter time')
    >>> _contradiction_within_text("the ups batteries of 300 kwh carry 1.2 mw for 15 minutes")
    """
    if _NOT_WHOLE.search(text) is not None:
        return None
    hourly, tanks = {*_BURNED_HOURLY.findall(text)}, {*_TANK.findall(_BURNED_HOURLY.sub("", text))}
    hours = {float(each) for each in _RUN.findall(_BURNED_HOURLY.sub("", text))} | {
        24.0 * float(each) for each in _DAYS.findall(text)
    }
    if len(hourly) == len(tanks) == len(hours) == 1:
        burned, tank, asked = large_number_in_text(hourly.pop()), large_number_in_text(tanks.pop()), hours.pop()
        if 0 < tank < burned * asked:
            message = f"{tank:,.10g} liters last {tank / burned:.1f} h at {burned:,.10g} liters an hour, but the text asks for {asked:g} h"
            return message, "order a larger tank, or a contract for refueling"
    stored, powers, minutes = ({*setting.findall(text)} for setting in (_STORED, _POWER, _MINUTES))
    if _OF_BATTERY.search(text) is None or not len(stored) == len(powers) == len(minutes) == 1:
        return None
    (energy, unit), (drawn, scale), asked = stored.pop(), powers.pop(), float(minutes.pop())
    held = number_in_text(energy) * (1e6 if unit == "m" else 1e3)
    watts = number_in_text(drawn) * (1e6 if scale == "m" else 1e3)
    lasts = held / watts * 60 if watts else asked
    if 0 < lasts < asked * ALMOST:
        message = f"batteries of {held / 1e3:,.10g} kWh carry {display(watts, 'W')} for {lasts:.3g} minutes, but the text asks for {asked:g}"
        return message, "order more batteries, or plan with a shorter time"
    return None


_STORES = word_set("l litre litres liter liters litro litros litri wh kwh mwh")
"""Units of a tank and of batteries."""
ALMOST = 0.97
"""Smallest share of the requested time at which a rounded time is long enough."""


def check(counts: FabricCount, power: PowerSpec | None, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    named = texts.remarks and has_unit(texts.remarks, _STORES)
    stated_alone = named and _ALONE.search(texts.remarks) is not None
    for text in sentences_with_neighbors(texts.sentences) if stated_alone else ():
        alone = _contradiction_within_text(text)
        if alone is not None:
            yield RULE.problem("description", *alone)
            return
    stated = "kwh" in texts.remarks.lower() and not cluster.cloud
    quoted = any("kwh" in (line.part or "").lower() for line in texts.procurement.quote or ())
    if not (stated or quoted):
        return
    if quoted:
        yield from _small_battery_problem(counts, power, cluster, texts)
    if not stated:
        return
    text = texts.description
    burned, hours = _BURNED.findall(text), _HOURS.findall(text)
    if len(burned) != 1 or len(hours) != 1:
        return
    tanks = {large_number_in_text(each) for each in _TANK.findall(text)}
    drawn = it_power(cluster, counts.fabric, power)
    if len(tanks) != 1 or drawn is None:
        return
    watts = drawn[0] * (texts.procurement.pue or 1.0)
    (liters,), asked = tanks, float(hours[0][0] or hours[0][1])
    needed = watts / 1e3 * asked * number_in_text(burned[0])
    if 0 < liters < needed:
        message = f"{liters:,.10g} liters last {asked * liters / needed:.1f} h at {display(watts, 'W')}, but the text asks for {asked:g} h: {needed:,.0f} liters"
        yield RULE.problem("description", message, "order a larger tank, or a contract for refueling")


def _small_battery_problem(
    counts: FabricCount, power: PowerSpec | None, cluster: Cluster, texts: PurchaseTexts
) -> Iterator[Problem]:
    """The problem of quoted batteries with less energy than the machine draws in the time that they must bridge."""
    carried = _CARRIED.search(texts.description)
    quote = texts.procurement.quote or ()
    stored = [
        (number_in_text(number) * (1e6 if unit == "m" else 1e3) * float(line.quantity or 1), index)
        for index, (line, text) in enumerate(zip(quote, texts.lines, strict=True))
        if _BATTERY.search(text) is not None
        for number, unit in _STORED.findall(text)
    ]
    drawn = it_power(cluster, counts.fabric, power) if carried is not None and stored else None
    if carried is None or drawn is None:
        return
    watts = drawn[0] * (texts.procurement.pue or 1.0)
    seconds = time_in_text(carried[1] or str(count_in_text(carried[2])), carried[3])
    held, asked = sum_of(each for each, _ in stored), watts * seconds / HOUR
    if held < asked:
        message = f"the batteries hold {held / 1e3:,.0f} kWh, but {display(watts, 'W')} for {display(seconds, 's')} are {asked / 1e3:,.0f} kWh"
        at = quote_path(stored[0][1], "quantity")
        yield RULE.problem(at, message, "order more of them, or plan with a shorter time")
