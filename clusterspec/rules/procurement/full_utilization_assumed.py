"""The stated utilization leaves no time for repairs.

## What it finds

`utilization` above 0.95: a note, and a warning at 1 where the design has a price or a quote, unless the machine is rented:
rented hours are paid in any case, and without a price a utilization of 1 only bounds the energy from above. The rule is silent for a machine that is rented for less than three months, since it is returned after its run.

## Why it matters

Repairs, restarts, drains and queues take 10 to 20 % of a year, and the cost per useful hour rises accordingly.

## What to do

Use 0.85, or cite the figure of last year.

## When to ignore it

Ignore it for a single long job with spares whose utilization was measured.

## Fires

```yaml procurement.utilization
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, utilization: 1.0, prices: {node: 300000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, utilization: 0.85}
```

## Sources

- Utilization in cost models: https://ai-infrastructure.net/build-vs-rent-gpu-cost-model/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import YEAR
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "heuristic")
MOST = 0.95
SHORT = 0.25
"""Longest rent, in years, that is assumed to end with its run."""


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    used = procurement.utilization
    if used is not None and MOST < used <= 1 and not _ends_with_its_run(procurement):
        message = f"a utilization of {percent(used)} leaves no time for repairs, restarts and queues"
        severity = "warning" if used == 1 and _divides_a_price(procurement) else "note"
        yield RULE.problem(
            "procurement.utilization", message, "use 0.85, or cite last year's figure", severity=severity
        )


def _divides_a_price(procurement: ProcurementSpec) -> bool:
    """Whether the utilization divides the price of a purchase by hours of use; without one it only bounds the energy."""
    return not procurement.is_rent and bool(procurement.prices or procurement.quote or procurement.quoted_total)


def _ends_with_its_run(procurement: ProcurementSpec) -> bool:
    """Whether the machine is rented for so short a time that it is returned after its run."""
    return procurement.is_rent and procurement.term is not None and procurement.term.value <= SHORT * YEAR
