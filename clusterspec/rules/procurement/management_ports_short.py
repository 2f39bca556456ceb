"""The management switches of the quote have fewer ports than machines and switches to manage.

## What it finds

Switches for out-of-band management whose lines give their ports (`48 x 1GbE`, `SN2201`: 48), and together fewer of them than
the quote has nodes, other switches and coolant distribution units: each has a management controller with a port of its own.
Power distribution units that are metered or switched count for one port to every four, as they can be chained.

## Why it matters

A node without a port to its controller cannot be switched on, installed or repaired from afar. The missing switches are
cheap, and take weeks.

## What to do

Order another switch, or name in the line the switch that manages the other devices.

## When to ignore it

Ignore it where switches that are in place manage the others.

## Fires

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 64, unit_price: 310000}
    - {part: "SN2201 out-of-band switch", quantity: 1, unit_price: 4000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 64, unit_price: 310000}
    - {part: "SN2201 out-of-band switch", quantity: 2, unit_price: 4000}
```

## Sources

- Ports of SN2201: https://github.com/netbox-community/devicetype-library/blob/c516504ff3d2f0f34bce40188c2442bf82f51176/device-types/Mellanox/SN2201.yml
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import ceil

from clusterspec.cluster.fleet import Fleet
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import ANY_SWITCH, plain_part
from clusterspec.rules.readers.purchases.orders import are_elsewhere
from clusterspec.rules.readers.quotes.readings import lines_of_quote
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import and_list, name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_MANAGES = pattern(r"\b(?:out[- ]of[- ]band|oob|management|mgmt|bmc|ipmi)[\w -]{0,24}?\bswitch(?:es)?\b|\bsn2201\b")
_OTHER_USE = pattern(r"\b(?:front-?end|in-?band|storage|and cables|set|lot)\b")
_PORTS = pattern(r"(?<![\w.,])(\d{2}) ?(?:x |× ?|[- ]?ports?\b|p )")
_SN2201 = pattern(r"\bsn2201\b")
SN2201_PORTS = 48
_COOLANT_UNIT = pattern(r"^(?:[\w./-]{1,24} ){0,3}?(?:cdus?|coolant distribution units?)\b")
_METERED = pattern(
    r"\bpdus?\b[^;]{0,48}?\b(?:metered|switched|monitored|managed|intelligent)\b|\b(?:metered|switched|monitored|managed|intelligent) (?:[\w-]{1,16} ){0,2}?pdus?\b"
)
CHAINED = 4
"""Largest number of metered power distribution units on one port: manufacturers allow chains of four."""


def check(
    procurement: ProcurementSpec, cluster: Cluster | None, fleet: Fleet | None, remarks: str
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_of_quote(procurement.quote, cluster, fleet)
    switches = [(line, ports) for line in lines if (ports := _ports_of(line)) is not None]
    if not switches or are_elsewhere({"leaf_switch": 1}, remarks):
        return
    total = sum_of(each * float(line.line.quantity or 0) for line, each in switches)
    nodes, others = _count(lines, {"node"}), _count(lines, ANY_SWITCH)
    units = round(sum_of(float(line.line.quantity or 0) for line in lines if _sells_kind(line, _COOLANT_UNIT)))
    chains = ceil(sum_of(float(line.line.quantity or 0) for line in lines if _sells_kind(line, _METERED)) / CHAINED)
    if nodes and total < nodes + others + units + chains:
        line, _ = switches[0]
        managed = [(nodes, "node"), (others, "switch"), (units, "coolant distribution unit"), (chains, "chain")]
        named = and_list(plural(number, what) for number, what in managed if number)
        of_units = " of metered power distribution units" if chains else ""
        message = f"`{name_of_part(line.line.part)}` gives {total:,.10g} ports, but the quote has {named}{of_units} with a management controller each"
        at = quote_path(line.index, "quantity")
        yield RULE.problem(at, message, "order more, or say in the line what manages the others")


def _sells_kind(line: Offered, kind: re.Pattern[str]) -> bool:
    """Whether the text of a line sells parts of a kind, and the line is neither a credit nor periodic."""
    return not is_credit(line.line) and not line.is_periodic and kind.search(plain_part(line.line)) is not None


def _ports_of(line: Offered) -> int | None:
    """The number of ports of a management switch; None for other lines and if the line does not state it."""
    text = plain_part(line.line)
    if is_credit(line.line) or not line.line.quantity or _MANAGES.search(text) is None or _OTHER_USE.search(text):
        return None
    counted = _PORTS.search(text)
    if counted is not None:
        return int(counted[1])
    return SN2201_PORTS if _SN2201.search(text) is not None else None


def _count(lines: Sequence[Offered], kinds: Collection[str]) -> int:
    """The number of pieces of the given kinds in the quote lines."""
    return round(
        sum_of(
            line.units * float(line.line.quantity or 0) for line in lines if line.kind in kinds and not line.is_periodic
        )
    )
