"""A three-phase cable of the quote is thinner than its breaker allows.

## What it finds

A line or sentence with one cross-section of copper (`5G6 mm2`) and one current of its breaker or PDU (`63 A`), three-phase,
where the current is above what a cable of this cross-section carries even spaced in free air: 33 A with 2.5 mm², 46 A with 4,
59 A with 6, 80 A with 10, 108 A with 16, 146 A with 25 and 181 A with 35.

## Why it matters

The breaker protects the cable: its rated current may not exceed the current that the cable carries. Such a feed fails
the inspection of the building, and is a risk of fire.

## What to do

Order a thicker cable: 16 mm² for 63 A.

## When to ignore it

Ignore it where the cable is short and inside of a tested assembly.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 310000}
    - {part: "PDU 400 V three-phase 63 A with cable 5G6 mm2 copper", quantity: 8, unit_price: 1900}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 310000}
    - {part: "PDU 400 V three-phase 63 A with cable 5G16 mm2 copper", quantity: 8, unit_price: 1900}
```

## Sources

- Currents of cables spaced in free air (IEC 60364-5-52, NEN 1010): https://www.scribd.com/document/696570623/Wiring-calculation-current-carrying-capacities-IEC60364-IEC61439-v1-5
- Currents in conduit, which are lower: https://www.easymanua.ls/atlas-copco/ga-75plus/manual?p=192
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.written_numbers import number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
CARRIED = {2.5: 33.0, 4.0: 46.0, 6.0: 59.0, 10.0: 80.0, 16.0: 108.0, 25.0: 146.0, 35.0: 181.0}
"""Current in amperes that a copper conductor may carry when spaced in free air, by its cross-section in mm²."""
_SECTION = pattern(r"(?<![\d.,])(?:[345] ?[gx×] ?)?(\d{1,2}(?:[.,]\d)?) ?(?:mm2|mm²|sqmm|qmm)(?![\w])")
_AMPERES = pattern(r"(?<![\w.,])[bcd]?(\d{2,3}) ?a\b")
_THREE = pattern(
    r"\b(?:three|3)[- ]?(?:phase|fase|phasig|phasé)\w*|\b[45] ?[gx×] ?\d|\b(?:triphasé|trifásic[oa]|trifase|drehstrom|dreiphasig|trefas\w*|driefase\w*)\b"
)


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    for at, text in texts.placed:
        sections = {number_in_text(each) for each in _SECTION.findall(text)}
        amperes = {int(each) for each in _AMPERES.findall(text)}
        if len(sections) != 1 or len(amperes) != 1 or _THREE.search(text) is None:
            continue
        (section,), (current,) = sections, amperes
        carried = CARRIED.get(section)
        if carried is not None and current > carried:
            message = (
                f"a copper cable of {section:g} mm² carries at most {carried:g} A, but its breaker has {current} A"
            )
            thick = next((each for each, most in CARRIED.items() if most >= current), 0)
            yield RULE.problem(at, message, f"order {thick:g} mm² or more" if thick else "order a thicker cable")
            return
