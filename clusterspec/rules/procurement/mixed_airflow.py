"""Switches with opposite airflow directions are in one machine.

## What it finds

A line of `procurement.quote` for switches whose air flows from the ports to the power supplies (`C2P`), by its order
code or its text, where other lines, the description or a comment name switches with air from the supplies to the ports
(`P2C`); or the reverse; and a switch whose airflow does not fit the aisle that the text gives for the ports. Order
codes of NVIDIA and Mellanox end in `F` for `P2C` and in `R` for `C2P` (`MQM9700-NS2F`).

## Why it matters

Switches are mounted with their ports on one side. One with the other airflow draws in the exhaust of its neighbors and
blows it into the cold aisle: it overheats, and lowers the rate of its links or switches off.

## What to do

Order one direction: that of the aisle at the ports.

## When to ignore it

Ignore it where the switches are in different racks, mounted the other way round.

## Fires

```yaml procurement.quote[2].part
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B200, quantity: 16, unit_price: 490000}
    - {part: "MQM9700-NS2F leaf switch", quantity: 4, unit_price: 38000}
    - {part: "MQM9700-NS2R spine switch", quantity: 2, unit_price: 38000}
```

```yaml procurement.quote[1].part
clusterspec: 1
description: The switch stands among the servers with its ports to the hot aisle.
cluster: {platform: hgx-h200, nodes: 6}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200, quantity: 6, unit_price: 321000}
    - {part: "SN5600 switch, C2P", quantity: 1, unit_price: 54800}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B200, quantity: 16, unit_price: 490000}
    - {part: "MQM9700-NS2F leaf switch", quantity: 4, unit_price: 38000}
    - {part: "MQM9700-NS2F spine switch, P2C", quantity: 2, unit_price: 38000}
```

## Sources

- Order codes and airflow: https://docs.nvidia.com/networking/display/QM97X0PUB/Ordering+Information
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.quotes.parts import AIR, AIR_WORDS
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_PORTS = r"(?:ports?|portas|anschlüsse|puertos|porte|poorten|portar|porter)"
_ON = r"(?:[a-z'’-]{1,12} ){0,4}?"
_HOT_AISLE = pattern(
    rf"\b{_PORTS} {_ON}(?:hot[- ]aisle|warmgang|heißgang|allée chaude|couloir chaud|pasillo caliente|corredor quente|corridoio caldo|warme gang|varmgång\w*|varmgang\w*)\b"
)
_COLD_AISLE = pattern(
    rf"\b{_PORTS} {_ON}(?:cold[- ]aisle|kaltgang|allée froide|couloir froid|pasillo frío|corredor frio|corridoio freddo|koude gang|kallgång\w*|kaldgang\w*|koldgang\w*)\b"
)
"""Pattern of ports that face the cold aisle, with up to four words between."""
_CODES = {
    name: pattern(rf"\b(?:920-9b\w{{2,4}}-00{letter}\w-\w{{3}}|m(?:sn|qm)\d{{4}}-[a-z]{{2}}\d?{letter})\b")
    for name, letter in (("P2C", "f"), ("C2P", "r"))
}
"""For each airflow direction, the pattern of the order codes of NVIDIA switches with it."""


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    text = remarks.lower()
    usual, aisle = directions_in(text), _aisle_of_ports(text)
    for index, line in enumerate(procurement.quote):
        own = directions_in((line.part or "").lower())
        if len(own) != 1:
            continue
        if aisle and own != {_OF_AISLE[aisle]}:
            (one,) = own
            message = f"`{name_of_part(line.part)}` has air {AIR[one]}, but according to the text its ports are in the {aisle} aisle"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, f"order {_OF_AISLE[aisle]}: switches draw air from the cold aisle")
            return
        if len(usual) == 1 and own != usual:
            (one,), (other,) = own, usual
            message = f"`{name_of_part(line.part)}` has air {AIR[one]}, but other switches {AIR[other]}"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, f"order {other}: switches side by side draw air from one aisle")
            return
        usual = usual or own


_OF_AISLE = {"hot": "P2C", "cold": "C2P"}
"""The airflow direction that switches need if their ports are in this aisle."""


def _aisle_of_ports(text: str) -> str:
    """The aisle that the ports of the switches face, by a text; empty if it names neither or both."""
    hot, cold = _HOT_AISLE.search(text) is not None, _COLD_AISLE.search(text) is not None
    return "" if hot == cold else "hot" if hot else "cold"


def directions_in(text: str) -> set[str]:
    """The airflow directions in a lowercase text.

    >>> directions_in("mqm9700-ns2f switch"), directions_in("sn5600, c2p"), directions_in("switch")
    ({'P2C'}, {'C2P'}, set())
    """
    return {name for name in AIR if any(named[name].search(text) is not None for named in (_CODES, AIR_WORDS))}
