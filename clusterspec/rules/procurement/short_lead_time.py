"""The delivery is faster than accelerators are usually delivered.

## What it finds

`delivery.weeks` of a bought machine below 4; below 8 from 128 accelerators on; below 12 from 8,192 on.

## Why it matters

Suppliers state 8 to 16 weeks for systems of current accelerators, and up to a year for scarce ones; switches and optics
have their own lead times. The fastest large machine, 100,000 accelerators, took 17 weeks from the start of
construction. With a shorter planned lead time, a hall, a team and a job wait for the machine.

## What to do

Ask for a binding date with a penalty, and for partial deliveries.

## When to ignore it

Ignore it for machines in stock, and where the contract has a penalty.

## Fires

```yaml procurement.delivery.weeks
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, delivery: {weeks: 3}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, delivery: {weeks: 16}}
```

## Sources

- 8 to 16 weeks: https://ifactoryapp.com/sap-integration/on-prem-ai/nvidia-dgx-b200-b300-blackwell-systems
- 36 to 52 weeks: https://www.cliffcenter.com/research/amd-inference-economics
- 122 days for 100,000 accelerators: https://x.ai/colossus
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import offered_lines
from clusterspec.rules.knowledge.purchases import is_bought
from clusterspec.rules.readers.purchases.orders import states_previous_owner
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "warning", "heuristic")
FEW = 4
"""Number of accelerators, as cards or in desktop machines, that a reseller has in stock."""
LEAST = ((8192, 12.0), (128, 8.0), (1, 4.0))
"""Shortest lead time in weeks, for orders of at least this many accelerators."""


def check(procurement: ProcurementSpec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    weeks = procurement.delivery.weeks if procurement.delivery else None
    if weeks is None or not is_bought(procurement, cluster):
        return
    if states_previous_owner(remarks, *(line.part or "" for line in procurement.quote or ())):
        return  # they are in a store
    quote = procurement.quote or ()
    if quote and not any(line.kind in {"node", "accelerator"} for line in offered_lines(quote, cluster)):
        return  # the nodes are bought elsewhere, or there
    count = cluster.all_nodes * cluster.accelerators_per_node
    if count <= FEW:
        return  # desktop machines are in the stores of resellers
    least = next(each for number, each in LEAST if count >= number)
    if weeks < least:
        message = (
            f"{weeks:g} weeks for {count:,} {cluster.accelerator.name}: suppliers need {least:g} or more for as many"
        )
        yield RULE.problem(
            "procurement.delivery.weeks", message, "ask for a binding date with a penalty, or plan 8 to 16 weeks"
        )
