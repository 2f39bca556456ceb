"""The price of electricity or the PUE is stated for nodes whose rent includes power.

## What it finds

`electricity` or `pue` with a rent by the hour (`prices.node_hour`), without a purchase price of a node: a warning, and
a note where the description or a comment says that electricity is paid in addition to the rent (`metered`, `passed through`).

## Why it matters

An instance hour pays for power and cooling, and the cost over the term leaves the two keys out. Whoever adds energy to
the rent counts it twice: a node of 10 kW at a PUE of 1.3 and 0.12 per kWh is 13,700 a year.

## What to do

Remove both keys. Where the contract bills power in addition to the rent, say so in the reason of a waiver.

## When to ignore it

Ignore it where the contract bills power separately; the total of `clusterspec cost` is then too low by the cost of
energy.

## Fires

```yaml procurement.electricity
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node_hour: 55}, electricity: 0.12, pue: 1.3, utilization: 0.85}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node_hour: 55}, utilization: 0.85}
```

## Sources

- What a lease includes: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_PAID_APART = pattern(
    r"(?i)\b(?:electricity|energy|power)\b.*\b(?:passed? (?:through|on)|pass-through|metered|billed|invoiced|charged|"
    r"not (?:in|included|part)|excluded|apart|separate(?:ly)?|on top|at cost)\b"
)
"""Pattern of sentences by which the tenant pays for electricity in addition to the rent."""


_OWN_SITE = pattern(
    r"(?i)\b(?:on[- ]site|on[- ]prem\w*|(?:in|at) our (?:own )?(?:hall|site|data cent\w+|building|premises)|owned by the (?:lessor|owner|supplier))\b"
)
"""Pattern of words for rented machines at the tenant's own site."""


def check(procurement: ProcurementSpec, remarks: str, own_remarks: str | None) -> Iterator[Problem]:
    stated = [key for key in ("electricity", "pue") if getattr(procurement, key)]
    if stated and procurement.is_rent:
        named = and_list(f"`{key}`" for key in stated)
        message = f"a rent by the hour includes power and cooling, and the cost leaves {named} out"
        milestones = (procurement.delivery.milestones if procurement.delivery is not None else None) or ()
        apart = any(_PAID_APART.search(each) is not None for each in sentences_of(remarks))
        apart = apart or any(_OWN_SITE.search(each) is not None for each in (remarks, *milestones))
        shared = own_remarks is None  # other pools of the fleet may be bought, and pay for energy
        yield RULE.problem(
            f"procurement.{stated[0]}", message, f"remove {named}", severity="note" if apart or shared else ""
        )
