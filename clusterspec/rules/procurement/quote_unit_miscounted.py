"""A line of the quote counts another unit than the one it is sold by.

## What it finds

A line whose text names its unit (`licence per GPU`, `support per node`, `warranty, per rack`), or a product that its
vendor licenses by the accelerator, with a quantity that is not the number of those units in the design, with or without
spares. It is an error if the quantity is the number of another unit: 64 licences per GPU for 64 nodes of eight. Fewer
than needed are a warning, and more than 1.1 times as many a note. Lines with a quantity of 1 may be a lot, and are not
compared; nor are parts that `quote-off-bill` counts.

## Why it matters

A licence or a contract for each node in place of each accelerator covers an eighth of the machine. The rest is bought
later, at list price, and is in no budget.

## What to do

Ask the supplier for the number of units that the line covers.

## When to ignore it

Ignore it if the other units have a license or a contract already, or do not need one.

## Fires

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 64, unit_price: 292000}
    - {part: "NVIDIA AI Enterprise, licence per GPU, 3 years", quantity: 64, unit_price: 13500}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000}
    - {part: support per node for 3 years, quantity: 24, unit_price: 30000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 64, unit_price: 292000}
    - {part: "NVIDIA AI Enterprise, licence per GPU, 3 years", quantity: 512, unit_price: 13500}
    - {part: support per node for 3 years, quantity: 64, unit_price: 30000}
    - {part: "installation, per rack", quantity: 1, unit_price: 30000}
```

## Sources

- NVIDIA AI Enterprise is licensed for each GPU: https://docs.nvidia.com/ai-enterprise/planning-resource/licensing-guide/latest/licensing.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.patterns import pattern
from clusterspec.procurement.offered import Offered, is_credit, offered_lines, plain_part
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
SURPLUS = 1.10
"""Above this multiple of the units of the design, a line has more than some to spare."""
_UNIT = pattern(
    r"(?:\b(?:per|each|every)[ -]|/ ?|\b(?:a|by the) )"
    r"(?:(?P<accelerator>gpu|accelerator|card|chip)|(?P<node>node|server|system|host|instance)|(?P<rack>rack))\b"
)
_PER_ACCELERATOR = pattern(r"\bnvidia ai enterprise\b|\bnvaie\b|\bai enterprise\b")
"""Products that their vendors license by the accelerator."""
_HOURS = pattern(r"\b(?:hours?|hourly|hrs?)\b")


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster) -> Iterator[Problem]:
    if not procurement.quote:
        return
    counts = _units(design, cluster)
    for offered in offered_lines(procurement.quote, cluster):
        unit = _unit_of(offered)
        quantity = offered.line.quantity
        if not unit or quantity is None or quantity <= 1 or quantity in counts[unit] or 0 in counts[unit]:
            continue
        needed, at = min(counts[unit]), ("procurement", "quote", offered.index, "quantity")
        message = f"`{offered.line.part}` is sold per {unit}: the quote has {quantity:,.0f}, and the design has {plural(needed, unit)}"
        other = next((name for name, numbers in counts.items() if name != unit and quantity in numbers), "")
        if other:
            message += f"; {quantity:,.0f} is its number of {other}s"
        if other or quantity < needed:
            severity = "error" if other else "warning"
            yield RULE.problem(at, message, f"ask for {needed:,}, or what the line covers", severity=severity)
        elif quantity > SURPLUS * max(counts[unit]):
            yield RULE.problem(at, message, f"ask what the other {quantity - needed:,.0f} are for", severity="note")


def _units(design: Design, cluster: Cluster) -> dict[str, set[int]]:
    """The number of units of each name in the design: without its spare nodes, and with them."""
    nodes = {cluster.nodes, cluster.all_nodes}
    power = design.spec.cluster.power if design.spec.cluster is not None else None
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power is not None else None)
    return {
        "accelerator": {count * cluster.accelerators_per_node for count in nodes},
        "node": nodes,
        "rack": {parts_needed(count, per_rack) for count in nodes} if per_rack else {0},
    }


def _unit_of(offered: Offered) -> str:
    """The unit by which a line is sold: accelerator, node or rack; empty where its text does not say, or for parts of
    the bill, hours and credits.

    >>> from clusterspec.spec.model import QuoteLine
    >>> [_unit_of(Offered(0, "other", QuoteLine(part=part))) for part in ("Support per node", "NVAIE, 3 years", "Freight")]
    ['node', 'accelerator', '']
    """
    text = plain_part(offered.line)
    if offered.kind != "other" or is_credit(offered.line) or _HOURS.search(text) is not None:
        return ""
    if (found := _UNIT.search(text)) is not None and found.lastgroup is not None:
        return found.lastgroup
    return "accelerator" if _PER_ACCELERATOR.search(text) is not None else ""
