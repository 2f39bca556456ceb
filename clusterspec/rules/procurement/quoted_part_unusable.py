"""A quoted part cannot be used in the design as it is.

## What it finds

- Software that runs in the cloud of its vendor, or is managed from there, for a site that the text calls air-gapped or
  without internet;
- power distribution units whose lines name outlets C13 alone, for nodes whose power supplies have inlets C20: those of
  2.4 kW and more, or any node of 6 kW and more; units with fewer outlets C19 than the power supplies of a rack need;
- fewer power distribution units than the racks of the nodes take by `power.pdus`: a warning, as the others may be there;
- a power supply in the line of a node for less than `power.node`;
- cards without fans (`passive`, `Server Edition`) for a workstation, whose cards have fans of their own;
- a switch of the frontend whose ports the nodes fill, so that none is left for an uplink or the storage;
- divided cables of the frontend (`to 4x 100G`) with fewer ends than the nodes have links;
- cards whose cages, by the line of the node or card, do not take the cables or modules of `scale_out.optics.node_leaf`;
- a contract for liquid cooling of less heat than the nodes give to the liquid.

All but the number of power distribution units are errors.

## Why it matters

The part arrives, is paid for, and cannot be connected, started or cooled.

## What to do

Order the part that fits, or ask the supplier what else is needed.

## When to ignore it

Ignore it where the line is for another machine than the design's.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
description: Training machine of an air-gapped plant.
cluster: {platform: hgx-h200, nodes: 6}
procurement:
  currency: USD
  quote:
    - {part: "HGX H200 server", quantity: 6, unit_price: 321000}
    - {part: "Scheduler, SaaS, per GPU and year", quantity: 192, unit_price: 260}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8, power: {node: 10.4 kW}}
procurement:
  currency: CAD
  quote:
    - {part: "MI300X server", quantity: 8, unit_price: 318000}
    - {part: "PDU 208 V 60 A, 36 x C13", quantity: 18, unit_price: 2950}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {accelerator: rtx-pro-6000-workstation, accelerators_per_node: 2, nodes: 1, power: {node: 1.9 kW}}
procurement:
  currency: EUR
  quote:
    - {part: "workstation with 256 GB, 1.2 kW power supply", quantity: 1, unit_price: 7800}
    - {part: "RTX PRO 6000 Blackwell card", quantity: 2, unit_price: 8400}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {accelerator: rtx-pro-6000-workstation, accelerators_per_node: 2, nodes: 1}
procurement:
  currency: EUR
  quote:
    - {part: "workstation with 256 GB", quantity: 1, unit_price: 7800}
    - {part: "RTX PRO 6000 Blackwell Server Edition card, passive", quantity: 2, unit_price: 8400}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8, networks: {frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}}}
procurement:
  currency: CAD
  quote:
    - {part: "MI300X server", quantity: 8, unit_price: 318000}
    - {part: "Frontend switch 16 x 100GbE", quantity: 1, unit_price: 9500}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster:
  platform: mi355x-ubb8
  nodes: 16
  power: {node: 15 kW, cooling: liquid, liquid_share: 0.8}
procurement:
  currency: MYR
  quote:
    - {part: "Liquid cooling service 180 kW, kW-months (180 x 60)", quantity: 10800, unit_price: 95}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 24
  power: {node: 10.2 kW, nodes_per_rack: 4, supplies: {count: 6, power: 3.3 kW}, pdus: {count: 3}}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200", quantity: 24, unit_price: 350000}
    - {part: "PDU 415 V 50 A three-phase, 6 x C19 + 24 x C13", quantity: 18, unit_price: 2950}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 32, power: {node: 10.2 kW, nodes_per_rack: 4, pdus: {count: 4}}}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200", quantity: 32, unit_price: 350000}
    - {part: "PDU 415 V 50 A three-phase, 12 x C19", quantity: 16, unit_price: 2950}
```

## Silent

```yaml
clusterspec: 1
description: Training machine of an air-gapped plant; the license server stands on site.
cluster:
  platform: mi300x-ubb8
  nodes: 8
  power: {node: 10.4 kW, cooling: liquid, liquid_share: 0.75}
  networks: {frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}}
procurement:
  currency: CAD
  quote:
    - {part: "MI300X server, 8 power supplies of 3 kW", quantity: 8, unit_price: 318000}
    - {part: "Scheduler on site, per GPU and year", quantity: 256, unit_price: 260}
    - {part: "PDU 208 V 60 A, 30 x C13, 12 x C19", quantity: 18, unit_price: 2950}
    - {part: "Frontend switch 48 x 100GbE", quantity: 1, unit_price: 21500}
    - {part: "Liquid cooling service 80 kW, kW-months (80 x 60)", quantity: 4800, unit_price: 95}
```

## Sources

- Inlets and outlets of IEC 60320, C14 up to 10 A and C20 up to 16 A: https://webstore.iec.ch/en/publication/1473
- Cards with and without fans: https://www.nvidia.com/en-us/products/workstations/professional-desktop-gpus/rtx-pro-6000-family/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import loop_heat
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.knowledge.fabric_parts import FabricCount, fits_cage
from clusterspec.rules.knowledge.ranges import GIGABIT
from clusterspec.rules.readers.quotes.parts import PDU, UNITS_OF_RACK
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, watts_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part, or_list
from clusterspec.spec.model import NetworksSpec, PowerSpec, ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
LARGE_SUPPLY = 2400.0
"""Smallest power of a supply in watts at which its inlet is C20; a C14 inlet carries 10 A, 2.3 kW at 230 V."""
LARGE_NODE = 6000.0
"""Smallest power of a node in watts at which its supplies are large ones; it is shared by four to eight of them."""
_AIR_GAPPED = pattern(
    r"\bair[- ]?gap\w*|\b(?:no|without(?: any)?|not connected to the) (?:internet|outside network)\b|\b(?:ohne internet\w*|sans (?:accès )?internet|sin (?:acceso a )?internet|"
    r"sem (?:acesso à )?internet|senza (?:accesso a )?internet|zonder internet\w*|isolated network|offline site)\b|隔离网|物理隔離|インターネット接続なし|망분리"
)
_OF_CLOUD = pattern(
    r"\bsaas\b|\bcloud[- ](?:managed|hosted|based|delivered|native service|control plane|service|subscription)|\b(?:hosted|managed|control plane|runs?|runs? only) (?:by the vendor )?(?:in|from) the (?:vendor's )?cloud\b|"
    r"\b(?:in|from|through) (?:the )?(?:vendor|maker|supplier)(?:'s)? cloud\b|\bonline (?:check|activation|licen[cs]e)\b|"
    r"\bphones? home\b|\bvia (?:the )?(?:public )?cloud\b"
)
_SMALL_OUTLETS, _LARGE_OUTLETS = pattern(r"\bc-?13\b"), pattern(r"\bc-?(?:19|39|21)\b")
_COUNTED_OUTLETS = pattern(
    r"(?<![\w.,])(\d{1,2}) ?(?:[x×] ?)?(?:(?:outlets?|tomadas|steckdosen|prises|tomas|prese|uttag|zásuvek) )?c-?19\b"
)
_BY_RACK = pattern(
    r"\b(?:rack\w*|cabinets?|sets?|pairs?|paires?|paare?|pares?|kits?|schr[aä]nke?|baies?|armadi\w*|kast(?:en)?)\b"
)
"""Pattern of words in a line whose quantity may count racks or sets."""
_SUPPLY = pattern(
    rf"(?:(\d{{1,2}}) ?[x×] ?)?{NUMBER} ?(k?)w(?:[- ]class|atts?)? (?:[a-z]{{1,20}} )?(?:supply|supplies|psus?|power supply|power supplies|netzteile?|alimentations?|fuentes?)\b"
)
_PASSIVE = pattern(r"\bserver edition\b|\bpassiv\w*\b")
_CARD = pattern(r"\bconnectx|\bcx-?[6-9]\b|\bmcx\w*|\b(?:nics?|adapters?)\b")
_CAGES = pattern(r"\b(osfp|qsfp(?:112|56|28|-dd))\b")
_LEGS = pattern(r"(?:\b(?:to|into|auf|in|a|en|vers)\b|->|→) ?([248]) ?[x×] ?\d{2,3} ?g")
"""Pattern of the number of ends of a split cable at the nodes."""
_FRONTEND = pattern(r"\bfront-?end\b")
_PORTS = pattern(r"(?<![\w.,])(\d{1,3}) ?[x×] ?(1|10|25|50|100|200|400) ?g(?:be?|b/s|bps)?\b")
_DIVIDED = pattern(r"\bbreak-?outs?\b|\bsplit\w*|\bcables?\b|\blinks?\b")
_LIQUID_SERVICE = pattern(
    r"\b(?:liquid|water|direct[- ]to[- ]chip|dlc|coolant)\b[^;]{0,30}?\b(?:cooling|loop|heat|service|capacity)\b"
)
_KILOWATTS = pattern(rf"{NUMBER} ?(k|m)w\b(?!-| ?(?:each|per|a) )")
SAME = 0.02
"""Relative difference up to which two figures are equal, one of them rounded."""


def check(
    procurement: ProcurementSpec,
    cluster: Cluster,
    power: PowerSpec | None,
    networks: NetworksSpec | None,
    counts: FabricCount,
    remarks: str,
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    yield from _cloud_problem(lines, remarks.lower())
    yield from _plug_problem(lines, cluster)
    if cluster.accelerator.id.endswith("-workstation"):
        yield from _passive_problem(lines, cluster)
    front = networks.frontend if networks is not None else None
    if front is not None and front.nics_per_node and front.nic_bandwidth is not None:
        links, rate = cluster.all_nodes * front.nics_per_node, front.nic_bandwidth.value
        yield from _filled_switch_problem(lines, links, rate)
        yield from _few_legs_problem(lines, links)
    if power is not None:
        units = [(line, text) for line, text in lines if PDU.search(text) is not None]
        yield from _few_units_problem(units, power, cluster.all_nodes)
        yield from _outlet_problem(lines, units, power, cluster)
        yield from _supply_problem(lines, power)
        heat = loop_heat(cluster, counts.fabric, power) if power.cooling == "liquid" else None
        if heat is not None:
            yield from _cooling_problem(lines, heat[1])


def _problem(line: Offered, message: str, help_: str) -> Problem:
    """The problem with the part of a line."""
    text = f"`{name_of_part(line.line.part)}` {message}"
    return RULE.problem(quote_path(line.index, "part"), text, help_)


def _cloud_problem(lines: Sequence[tuple[Offered, str]], remarks: str) -> Iterator[Problem]:
    """The problem of software that needs its vendor's cloud, if the text allows no connection."""
    if _AIR_GAPPED.search(remarks) is None:
        return
    for line, text in lines:
        if line.kind == "other" and _OF_CLOUD.search(text) is not None:
            message = "needs the cloud of its vendor, but according to the text the site is not connected"
            yield _problem(line, message, "order software that runs on site")
            return


def _passive_problem(lines: Sequence[tuple[Offered, str]], cluster: Cluster) -> Iterator[Problem]:
    """The problem of cards without a fan for a workstation."""
    for line, text in lines:
        if line.kind == "accelerator" and _PASSIVE.search(text) is not None:
            message = f"has no fan, but the design has {cluster.accelerator.name} in a workstation"
            yield _problem(line, message, "order the cards for workstations")
            return


def _filled_switch_problem(lines: Sequence[tuple[Offered, str]], links: int, rate: float) -> Iterator[Problem]:
    """The problem of frontend switches without a port left after the ``links`` of the nodes, at ``rate`` in B/s."""
    found = [(line, text) for line, text in lines if _FRONTEND.search(text) is not None and "switch" in text]
    ports = 0.0
    for line, text in found:
        stated = _PORTS.findall(text)
        if len(stated) != 1 or not line.line.quantity or _DIVIDED.search(text) is not None:
            return
        (count, gigabits), each = stated[0], rate / GIGABIT
        ports += int(count) * max(1, int(gigabits) // max(1, round(each))) * float(line.line.quantity)
    if found and ports <= links:
        message = f"has {ports:,.0f} ports, and the nodes take {links:,}: none is left for an uplink"
        yield _problem(found[0][0], message, "order a switch with more ports")


def _few_legs_problem(lines: Sequence[tuple[Offered, str]], links: int) -> Iterator[Problem]:
    """The problem of split frontend cables with fewer ends than the ``links`` of the nodes."""
    found = [(line, _LEGS.search(text)) for line, text in lines if _FRONTEND.search(text) is not None]
    legs = [(line, int(ways[1]) * int(line.line.quantity or 0)) for line, ways in found if ways is not None]
    total = sum(count for _, count in legs)
    if len(legs) == 1 and links / 2 < total < links:
        message = (
            f"`{name_of_part(legs[0][0].line.part)}` has {total} ends for the nodes, but their frontend takes {links}"
        )
        at = quote_path(legs[0][0].index, "quantity")
        yield RULE.problem(at, message, f"order {ceil(links * (legs[0][0].line.quantity or 1) / total)}")


def _plug_problem(lines: Sequence[tuple[Offered, str]], cluster: Cluster) -> Iterator[Problem]:
    """The problem of cards whose cages do not fit the cables that the design names for the nodes."""
    fabric = cluster.scale_out
    named = (
        [one.lower_end for one in level_optics(fabric) if one.level == "node_leaf"] if fabric and fabric.optics else []
    )
    for line, text in lines if named and named[0].cages else ():
        cages = {*_CAGES.findall(text)} if line.kind in {"node", "nic"} and _CARD.search(text) is not None else set()
        if len(cages) == 1 and not fits_cage(named[0].cages, (cage := cages.pop()).upper()):
            message = f"has cards with cages for {cage.upper()}, but {named[0].name} fits {or_list(named[0].cages)}"
            yield _problem(line, message, "order cards or cables that fit each other")
            return


def _outlet_problem(
    lines: Sequence[tuple[Offered, str]], units: Sequence[tuple[Offered, str]], power: PowerSpec, cluster: Cluster
) -> Iterator[Problem]:
    """The problem of power distribution units that only have small outlets for large supplies; if they have large ones,
    of too few of them.
    """
    supply = power.supplies.power.value if power.supplies is not None and power.supplies.power is not None else 0.0
    node = power.node.value if power.node is not None else 0.0
    large = supply >= LARGE_SUPPLY if supply else node >= LARGE_NODE
    if not large or any(_LARGE_OUTLETS.search(text) is not None for _, text in lines):
        yield from _few_outlets_problem(units, power, cluster)
        return
    for line, text in units:
        if _SMALL_OUTLETS.search(text) is not None:
            message = (
                f"has outlets C13, but the supplies of a node of {display(max(node, supply), 'W')} have inlets C20"
            )
            yield _problem(line, message, "order units with outlets C19 or C39")
            return


def _few_outlets_problem(units: Sequence[tuple[Offered, str]], power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of units with fewer large outlets than the power supplies of a rack need."""
    each = power.nodes_per_rack or 0
    sold = cluster.platform.supplies if cluster.platform is not None and cluster.platform.form == "node" else None
    cords = each * ((power.supplies.count if power.supplies is not None else sold) or 0)
    planned = power.pdus.count or 0 if power.pdus is not None else 0
    for line, text in units:
        of_rack = UNITS_OF_RACK.search(text) if line.site_kind == "rack" else None
        count = planned or (int(of_rack[1]) if of_rack is not None else 0)
        stated = [int(number) for number in _COUNTED_OUTLETS.findall(text)]
        if len(stated) == 1 and count and cords > stated[0] * count:
            message = f"has {stated[0]} outlets C19, but the {each} nodes of a rack have {cords} cords for {count} units: {ceil(cords / count)} for each"
            yield _problem(line, message, "order units with more outlets C19")
            return


def _few_units_problem(units: Sequence[tuple[Offered, str]], power: PowerSpec, nodes: int) -> Iterator[Problem]:
    """The problem of fewer units, sold individually, than the racks of the nodes need."""
    count = power.pdus.count or 0 if power.pdus is not None else 0
    racks = ceil(nodes / power.nodes_per_rack) if power.nodes_per_rack else 0
    if any(_BY_RACK.search(text) is not None or line.site_kind == "rack" for line, text in units):
        return
    quoted = sum_of(float(line.line.quantity or 0) for line, _ in units)
    if units and count and quoted > 1 and quoted < racks * count:
        message = f"and lines like it offer {quoted:,.0f} units, but {racks} racks of {count} take {racks * count:,}"
        at = quote_path(units[0][0].index, "quantity")
        text = f"`{name_of_part(units[0][0].line.part)}` {message}"
        yield RULE.problem(at, text, f"order {racks * count:,}, or correct `power.pdus.count`", severity="warning")


def _supply_problem(lines: Sequence[tuple[Offered, str]], power: PowerSpec) -> Iterator[Problem]:
    """The problem of a node whose line states power supplies for less than the node draws."""
    drawn = power.node.value if power.node is not None else 0.0
    for line, text in lines:
        found = _SUPPLY.findall(text) if line.kind == "node" else []
        if len(found) != 1:
            continue
        count, number, kilo = found[0]
        watts = number_in_text(number) * (1000 if kilo else 1)
        if not count and watts * 8 > drawn > 4 * watts:
            continue  # one of several supplies, whose number the line leaves out
        carried = watts * int(count or 1)
        if carried < drawn * (1 - SAME):
            message = f"has a power supply of {display(carried, 'W')}, but `power.node` is {display(drawn, 'W')}"
            yield _problem(line, message, "order larger supplies, or correct the key")


def _cooling_problem(lines: Sequence[tuple[Offered, str]], heat: float) -> Iterator[Problem]:
    """The problem of a contract for liquid cooling of less than ``heat``, the watts that the liquid receives."""
    for line, text in lines:
        stated = {watts_in_text(number, unit) for number, unit in _KILOWATTS.findall(text)}
        if len(stated) != 1 or not line.counts_periods or _LIQUID_SERVICE.search(text) is None:
            continue
        (contracted,) = stated
        if contracted < heat * (1 - SAME):
            message = (
                f"is for {display(contracted, 'W')}, but the nodes give {display(heat, 'W')} to the liquid at full load"
            )
            yield _problem(line, message, f"contract {display(heat, 'W')}")
