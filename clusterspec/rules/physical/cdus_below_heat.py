"""The coolant distribution units remove less heat than the machine gives to the coolant.

## What it finds

Units in `power.cdus` whose total `capacity`, without the redundant units (one with `redundancy: N+1`, half with `2N`),
is below the heat that the machine gives to liquid at full load. That heat is the power of nodes, spares, scale-up
domains and racks times the liquid share (`power.liquid_share`, else the platform's, else the range of published
machines), plus the power of switches that are sold only with liquid cooling. A unit that is built into a rack
(`form: in-rack` in its catalog entry) cools that rack only: a redundant unit has to be in each rack, not one in all. The finding is an error where even the low
end of the range exceeds the capacity, and a warning where its middle does. Units with `power.cooling: air` are a
warning.

## Why it matters

Accelerators throttle or stop when the coolant of the loop becomes too warm. A loop with one unit too few cools the
machine only until the first unit is serviced.

## What to do

Add units, use larger ones, or cap the power of the nodes.

## When to ignore it

Ignore it where a second loop, which the spec does not state, removes the rest of the heat.

## Fires

```yaml cluster.power.cdus
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 288
  power: {cooling: liquid, cdus: {count: 2, capacity: 1.2 MW, redundancy: N+1}}
```

```yaml cluster.power.cdus
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  power: {nodes_per_rack: 4, cooling: air, cdus: {count: 2, capacity: 1 MW}}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 72
  power: {cooling: liquid, cdus: {count: 3, capacity: 1.2 MW, redundancy: N+1}}
procurement:
  currency: USD
  quote:
    - {part: GB200 NVL72 rack, quantity: 4, unit_price: 3500000}
    - {part: CDU 1.2 MW, quantity: 2, unit_price: 300000}
```

```yaml cluster.power.cdus
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {model: vertiv-coolchip-cdu-121, count: 9, redundancy: N+1}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {model: vertiv-coolchip-cdu-121, count: 16, redundancy: N+1}}
```

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 288
  power: {cooling: liquid, cdus: {count: 3, capacity: 1.2 MW, redundancy: N+1}}
```

## Sources

- Heat of an NVL72 rack to liquid and to air: `clusterspec catalog show gb200-nvl72`
- Sizing and redundancy of units: https://aidatacenterguide.com/part-5-cooling-and-thermal-management/5-6-cdus-and-the-secondary-loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from clusterspec.catalog import Catalog
from clusterspec.catalog.facilities import Cdu
from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import CoolingUnits, cooling_units, loop_heat
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import PowerSpec, ProcurementSpec, QuoteLine
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")
AT = "cluster.power.cdus"


_UNITS = pattern(r"^(?:[\w.]{1,6} )?(?:in-?row )?(?:cdus?|coolant distribution units?|cooling distribution units?)\b")
"""Pattern of the start of a quote line for coolant distribution units."""


def check(
    deviations: Deviations,
    catalog: Catalog,
    power: PowerSpec,
    counts: FabricCount,
    cluster: Cluster,
    procurement: ProcurementSpec | None,
) -> Iterator[Problem]:
    if power.cdus is None:
        return
    if procurement is not None and procurement.quote and power.cdus.count:
        yield from _few_quoted_units_problem(procurement.quote, power.cdus.count)
    if power.cooling == "air":
        message = "air cools the data hall, so that no heat reaches the cooling distribution units"
        yield RULE.problem(AT, message, "state `cooling: liquid`, or leave the units out", severity="warning")
        return
    if (few_in_racks := _few_units_in_racks_problem(power, catalog, cluster)) is not None:
        yield few_in_racks
        return
    units, heat = cooling_units(power), loop_heat(cluster, counts.fabric, power)
    if units is None or heat is None or deviations.has_any_of("power"):
        return
    low, middle, _ = heat
    carried = units.carried_watts(units.spare)
    if carried >= middle:
        return
    message = f"{display(middle, 'W')} of heat to liquid at full load exceed the {display(carried, 'W')} of {_units_text(units)}"
    severe = low > carried
    help_ = f"plan {plural(_sufficient_units(units, middle), 'unit')} of {display(units.capacity, 'W')}, or larger ones"
    yield RULE.problem(AT, message, help_, severity="error" if severe else "warning")


def _few_units_in_racks_problem(power: PowerSpec, catalog: Catalog, cluster: Cluster) -> Problem | None:
    """The problem of units built into racks of which some rack has none, or none that is redundant."""
    written, per_rack = power.cdus, rack_nodes(cluster, power.nodes_per_rack)
    if written is None or written.model is None or written.count is None or not per_rack:
        return None
    part = catalog.find("cdu", written.model)
    if not isinstance(part, Cdu) or part.form != "in-rack":
        return None
    racks, each = parts_needed(cluster.all_nodes, per_rack), 2 if written.redundancy in ("N+1", "2N") else 1
    if written.count >= racks * each:
        return None
    have = f"{plural(written.count, 'unit')} for {plural(racks, 'rack')}"
    message = f"{part.id} is built into a rack and cools that rack only: {have} are fewer than {each} in each" + (
        f", as `redundancy: {written.redundancy}` needs" if each > 1 else ""
    )
    return RULE.problem(AT, message, f"plan {racks * each} units, or larger ones in the row, on one loop")


def _few_quoted_units_problem(quote: Sequence[QuoteLine], count: int) -> Iterator[Problem]:
    """The problem of a quote with fewer units than the design."""
    from clusterspec.procurement.part_names import plain_part  # most specs have no quote

    offered = [
        (index, line)
        for index, line in enumerate(quote)
        if _UNITS.search(plain_part(line)) is not None and line.quantity is not None and (line.price or 0) >= 0
    ]
    total = sum_of(float(line.quantity or 0) for _, line in offered)
    if offered and 1 < total < count:
        message = f"the quote has {plural(round(total), 'cooling distribution unit')}, but `cdus.count` is {count}"
        at = quote_path(offered[0][0], "quantity")
        yield RULE.problem(at, message, "ask for the others, or correct the key", confidence="likely")


def _units_text(units: CoolingUnits) -> str:
    """The units that carry the heat: ``3 cooling distribution units (1 more in reserve)``."""
    carrying = plural(units.installed - units.spare, "cooling distribution unit")
    return f"{carrying} ({units.spare} more in reserve)" if units.spare else carrying


def _sufficient_units(units: CoolingUnits, heat: float) -> int:
    """The number of units that removes the heat with the same redundancy."""
    needed = ceil(heat / units.capacity)
    if units.spare <= 1:
        return needed + units.spare
    return 2 * needed
