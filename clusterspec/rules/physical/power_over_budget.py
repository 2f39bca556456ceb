"""The machine draws more than its power budget.

## What it finds

Nodes with spares, switches, rack-scale domains and racks at full load above `power.budget` or
`operations.power_budget`, the power for IT equipment, above the kilowatts that a line of the quote contracts in a
colocation, or above the power that the hall or its feed gives according to the description or the comments. The finding is an error. Power that the spec does not state comes from the catalog. Where the catalog has
none for a node, the rule assumes a share for the host and has confidence `likely`; the finding is then a note unless
even the smallest share exceeds the budget. It is also a note where only the switches exceed the budget, and belong to a
fabric that the spec does not describe and that engines within nodes do not need. The sum omits switches and racks of
unknown power, and the message names them.

## Why it matters

The hall cannot supply the last racks, or every node has to run below its rating. Cooling needs power in addition to IT
power.

## What to do

Use fewer nodes, state capped power, or find more power.

## When to ignore it

Ignore it where an enforced cap keeps the nodes from reaching their ratings at the same time; better, state the capped
power of a node.

## Fires

```yaml cluster.power.budget
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 200
  power: {budget: 2 MW}
```

```yaml operations.power_budget
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 200}
operations: {power_budget: 2 MW, burn_in: 72 h}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100, quantity: 8, unit_price: 290000}
    - {part: "Colocation, contracted IT load 60 kW, per kW and month", quantity: 2160, unit_price: 180}
```

```yaml description
clusterspec: 1
description: The feed of the hall gives 400 kW for IT; the cooling is built for 550 kW.
cluster: {platform: dgx-h100, nodes: 48}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 180
  power: {budget: 2 MW}
```

## Sources

- 10.2 kW of a DGX H100: `clusterspec catalog show dgx-h100`
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.nameplates import PowerDraw, it_power, lowest_it_power, power_draw
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount, may_have_no_fabric
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import Spec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")
OTHER = 3.0
"""Ratio of the power that is drawn to one of the text from which that is of something else, such as one rack."""


def check(
    deviations: Deviations,
    spec: Spec,
    counts: FabricCount,
    cluster: Cluster,
    design: Design,
    own_remarks: str | None,
) -> Iterator[Problem]:
    quoted = spec.procurement is not None and bool(spec.procurement.quote)
    if not (spec.power_budgets or quoted or own_remarks) or deviations.has_any_of("power"):
        return
    budgets = _stated_budgets(spec, own_remarks or "")
    power = spec.cluster.power if spec.cluster else None
    drawn = it_power(cluster, counts.fabric, power) if budgets else None
    budgets = [
        each for each in budgets if drawn is not None and (each[0] != "description" or drawn[0] < OTHER * each[1])
    ]
    if drawn is None or not budgets:
        return
    key, budget = min(budgets, key=lambda stated: stated[1])
    if drawn[0] <= budget:
        return
    fabric = None if may_have_no_fabric(design, cluster) else counts.fabric
    least = lowest_it_power(cluster, fabric, power) or drawn[0]
    assumed = "likely" if cluster.node_power is None or key == "description" else "certain"
    message = f"the machine draws {display(drawn[0], 'W')} at full load, above the budget of {display(budget, 'W')}: {drawn[1]}"
    yield RULE.problem(
        key,
        message,
        f"use {_fewer_nodes_text(cluster, power_draw(cluster, counts.fabric, power), drawn[0], budget)}, or cap their power",
        confidence=assumed,
        severity="error" if least > budget else "note",
    )


def _fewer_nodes_text(cluster: Cluster, draw: PowerDraw, drawn: float, budget: float) -> str:
    """Text with the number of nodes that the budget allows.

    All present switches count, because fewer nodes need at most as many. The number is in whole racks if a rack-scale
    domain draws power of its own. ``drawn`` and ``budget`` are in watts.
    """
    if draw.node is None:
        return "fewer nodes"
    shared = draw.domain_overhead.value if draw.domain_overhead else 0.0
    unit = nodes_of_rack(cluster.platform) if shared and cluster.platform else 1
    others = drawn - draw.nodes * draw.node.value - draw.domains * shared
    left = floor((budget - others) / (unit * draw.node.value + shared)) * unit
    return f"at most {plural(left, 'node')}, spares included" if left > 0 else "fewer nodes"


def _stated_budgets(spec: Spec, own_remarks: str) -> list[tuple[str | Path, float]]:
    """The keys, the quote lines and the text that limit the power of the IT equipment, each with its watts."""
    found: list[tuple[str | Path, float]] = [(key, stated.value) for key, stated in spec.power_budgets]
    if spec.procurement is not None and spec.procurement.quote:
        from clusterspec.rules.readers.purchases.orders import contracted_power  # few specs have a quote

        found += contracted_power(spec.procurement.quote)
    if spec.cluster is not None and any(unit in own_remarks for unit in ("kW", "MW")):
        from clusterspec.rules.knowledge.purchases import date_of_text
        from clusterspec.rules.readers.demands.values import is_multiple
        from clusterspec.rules.readers.plans.limits import power_of_site  # for texts about power alone

        needed = date_of_text(spec.procurement.needed_by) if spec.procurement is not None else None
        given, power = power_of_site(own_remarks[:MOST_CHARACTERS], needed), spec.cluster.power
        node = power.node.value if power is not None and power.node is not None else 0.0
        of_rack = {each.value for each in (power.rack_limit, power.row_limit) if each is not None} if power else set()
        found += (
            [("description", given.value)]
            if given is not None and given.value not in of_rack and not is_multiple(given.value, node)
            else []
        )
    return found
