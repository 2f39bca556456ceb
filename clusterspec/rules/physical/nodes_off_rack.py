"""A rack holds more nodes than fit into it, or another number than the rack is sold with.

## What it finds

A `power.nodes_per_rack` whose nodes, at the platform's height, take more than 48 rack units, or more than the tallest
racks of the quote have (an error), or all 48 (a warning). For platforms that are sold as a rack, any other number than the nodes of that rack is an error.

## Why it matters

A DGX B200 is 10 units high, so five take 50, and racks of 42 to 48 units are usual; power distribution and switches
need units, too. The scale-up domain of an NVL72 runs over the copper cartridge of its rack: 18 compute trays cannot be
split over two racks or doubled in one.

## What to do

Use fewer nodes in a rack, or the number that the rack is sold with.

## When to ignore it

Ignore it where the racks are taller than 48 units.

## Fires

```yaml cluster.power.nodes_per_rack
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 20, power: {nodes_per_rack: 5}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 20, power: {nodes_per_rack: 4}}
```

## Sources

- Height and power of a node: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")
TALL = 48
"""Height of a common tall rack in rack units."""
AT = "cluster.power.nodes_per_rack"
_RACK_UNITS = pattern(
    r"\b(?:rack|cabinet|schrank|baie|armadio|armario)\w*\b.{0,20}?\b([1-6]\d) ?(?:u|he|ru)\b|\b([1-6]\d) ?(?:u|he|ru) (?:rack|cabinet)"
)
"""Pattern of the height of a rack in a quote line."""


def check(power: PowerSpec, platform: Platform, procurement: ProcurementSpec | None) -> Iterator[Problem]:
    stated = power.nodes_per_rack
    if stated is None:
        return
    if platform.form == "rack":
        sold = nodes_of_rack(platform)
        if sold > 1 and stated != sold:
            message = (
                f"a rack of {platform.name} has {sold} nodes and its scale-up switches, not {plural(stated, 'node')}"
            )
            yield RULE.problem(AT, message, f"write `nodes_per_rack: {sold}`, or remove the key")
    elif platform.rack_units and 0 < (tallest := _tallest_rack(procurement)) < stated * platform.rack_units:
        message = f"{stated} nodes of {platform.rack_units} rack units take {stated * platform.rack_units} units, but the quoted racks have {tallest}"
        yield RULE.problem(AT, message, "order taller racks, or more of them")
    elif platform.rack_units and stated * platform.rack_units >= TALL:
        height = stated * platform.rack_units
        message = f"{stated} nodes of {platform.rack_units} rack units take {height} units, but a large rack has {TALL}"
        most = (TALL - 1) // platform.rack_units
        yield RULE.problem(
            AT,
            message,
            f"use at most {most} nodes in a rack: switches and power supplies need units, too",
            severity="error" if height > TALL else "warning",
        )


def _tallest_rack(procurement: ProcurementSpec | None) -> int:
    """Height in rack units of the tallest quoted rack; 0 if no line states a height."""
    lines = (procurement.quote or ()) if procurement is not None else ()
    found = (_RACK_UNITS.search((line.part or "").lower()) for line in lines)
    return max((int(each[1] or each[2]) for each in found if each is not None), default=0)
