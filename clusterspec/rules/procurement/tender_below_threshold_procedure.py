"""A public order above the European thresholds follows a procedure for smaller ones.

## What it finds

A text that names a national procedure for contracts below the thresholds (procédure adaptée in France, direct orders in Germany,
contrato menor in Spain, affidamento diretto in Italy, direktupphandling in Sweden, private tenders in the Netherlands), in
euros, with a value without tax above 443,000, which is above the threshold of every kind of buyer of supplies.

## Why it matters

Above the threshold a notice in the Official Journal is compulsory. A court can void the contract, and a new tender costs
months.

## What to do

Publish the tender in the Official Journal, or call off a framework agreement.

## When to ignore it

Ignore it where an exception allows the procedure; name it in the award file.

## Fires

```yaml description
clusterspec: 1
description: "Marché de fournitures passé en procédure adaptée."
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: EUR
  tax: 0.2
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 310000}
```

## Silent

```yaml
clusterspec: 1
description: "Marché de fournitures passé en appel d'offres ouvert."
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: EUR
  tax: 0.2
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 310000}
```

## Sources

- Thresholds without tax: https://procurement-law.de/public-procurement-thresholds/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import amount_of_quote
from clusterspec.rules.knowledge.purchases import money_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
THRESHOLD = 443_000.0
"""The highest EU tender threshold for supplies in EUR without tax, which applies to utilities; it is 221,000 for other
buyers and 143,000 for states.
"""
_SMALL = pattern(
    r"\b(?:mapa|procédure adaptée|uvgo|unterschwellenvergabe\w*|direktauftrag|freihändige vergabe|contrato menor|affidamento diretto|direktupphandling|enkelvoudig onderhands|"
    r"meervoudig onderhands|ajuste d[ie]reto|ajuste directo|direct award|below (?:the )?(?:eu )?thresholds?)\b"
)
_EXCEPTION = pattern(
    r"\b(?:framework|accord-cadre|rahmen\w*|acuerdo marco|accordo quadro|raamovereenkomst|exclusive rights?|exclusivité|alleinstellung\w*|not|no|nicht|pas|non|sin|without)\b"
)


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if procurement.currency != "EUR" or not procurement.quote:
        return
    total = amount_of_quote(procurement)
    value = total / (1 + (procurement.tax or 0.0)) if total is not None else 0.0
    for at, text in texts.placed if value > THRESHOLD else ():
        if (found := _SMALL.search(text)) is not None and _EXCEPTION.search(text) is None:
            message = f"`{found[0]}` is a procedure below the European thresholds, but the value without tax is {money_text(f'{value:,.0f}', 'EUR')}, above {THRESHOLD:,.0f}"
            yield RULE.problem(at, message, "publish the tender in the Official Journal")
            return
