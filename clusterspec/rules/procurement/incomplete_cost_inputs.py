"""Inputs of the operating cost are missing.

## What it finds

`term` and `prices` without `electricity`, `pue` or `utilization`, or with an `electricity` of 0: a note. A `pue`
without a price of electricity is a warning, since the power then costs nothing. A machine of 16 nodes or more, in racks
that are not rented, without both is a warning as well, unless a `quote` shows that the spec is about the purchase; the
procurement report then still lists the missing energy among its gates. A rent of racks without
`cluster.power.nodes_per_rack` is a note.

## Why it matters

The purchase price is a third to a half of the cost over the term.

## What to do

Add all three.

## When to ignore it

Do not ignore it. For rented nodes, whose price includes power, state a `node_hour` price.

## Fires

```yaml procurement
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 310000}, pue: 1.3, utilization: 0.85}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 310000}, electricity: 0.12, pue: 1.3, utilization: 0.85}
```

## Sources

- What makes up the cost: https://ai-infrastructure.net/build-vs-rent-gpu-cost-model/
- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ClusterSpec, ProcurementSpec, Spec

RULE = Rule.of(__name__, "note")
MANY = 16
"""Smallest number of nodes at which the energy over the term is a large sum: 16 nodes of 10 kW use 1.4 GWh a year."""


def check(
    spec: Spec, procurement: ProcurementSpec, written_cluster: ClusterSpec | None, cluster: Cluster | None
) -> Iterator[Problem]:
    power = written_cluster.power if written_cluster else None
    stated = power.nodes_per_rack if power else None
    held = rack_nodes(cluster, stated) if cluster else stated
    if (procurement.prices or {}).get("rack_per_month") and held is None:
        message = "racks are rented, but the number of nodes in a rack is not stated: the cost omits their rent"
        yield RULE.problem("procurement.prices.rack_per_month", message, "add `cluster.power.nodes_per_rack`")
    if procurement.term is None or not procurement.prices or procurement.prices.get("node_hour"):
        return
    inputs = [key for key in ("electricity", "pue", "utilization") if not spec.unreadable(("procurement", key))]
    lacking = [key for key in inputs if getattr(procurement, key) is None]
    if procurement.electricity == 0:
        lacking.insert(0, "electricity")
    if lacking:
        named = and_list(f"`{key}`" for key in lacking)
        message = f"without {named} the cost over {procurement.term.written} {_missing_inputs_text(lacking)}"
        unpaid = "electricity" in lacking and (procurement.pue is not None or _draws_much(procurement, cluster))
        yield RULE.problem("procurement", message, f"add {named}", severity="warning" if unpaid else "note")


def _draws_much(procurement: ProcurementSpec, cluster: Cluster | None) -> bool:
    """Whether the owner pays for the energy of a large machine, so that costs without energy omit a large sum."""
    if procurement.quote or (procurement.prices or {}).get("rack_per_month"):
        return False
    return cluster is not None and cluster.nodes >= MANY


def _missing_inputs_text(lacking: list[str]) -> str:
    """Text on the missing inputs of the cost: without an electricity price energy is omitted; other inputs have
    defaults.
    """
    return "leaves energy out" if "electricity" in lacking else "rests on assumed values"
