"""The delivery ends before the site, and nobody brings the machine there.

## What it finds

- A line or a milestone with a term of delivery (`DAP`, `CIF`, `CPT`) to a port or an airport, where no line covers the
  transport from there, by itself or with the installation.
- A line with a term by which the buyer carries the goods (`EXW`, `FCA`, `FOB`), although the description has the seller
  bring them to the site (`DAP`, `DDP`).

Both are warnings.

## Why it matters

The risk passes to the buyer at the named place: unloading, customs, the truck to the site and the insurance of that leg
are in no price, and a rack that falls from a forklift is the buyer's.

## What to do

Ask for a delivery to the site (`DAP` or `DDP` with its address), or order the last leg with its insurance.

## When to ignore it

Ignore it where a contract of the buyer's own covers the last leg, and say so in the description.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: NOK
  quote:
    - {part: "DGX H200", quantity: 8, price: 30000000}
    - {part: "Freight DAP Oslo havn incl. insurance to that point", quantity: 1, price: 295000}
```

```yaml procurement.quote[1].part
clusterspec: 1
description: Eight servers, delivered DAP Odense.
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: DKK
  quote:
    - {part: "DGX H200", quantity: 8, price: 20000000}
    - {part: "Export packing, EXW Taoyuan", quantity: 1, price: 90000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: NOK
  quote:
    - {part: "DGX H200", quantity: 8, price: 30000000}
    - {part: "Freight DAP Rjukan incl. insurance", quantity: 1, price: 295000}
```

## Sources

- Incoterms 2020: https://iccwbo.org/business-solutions/incoterms-rules/incoterms-2020/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.source import Path
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_TO_PORT = pattern(
    r"(?i)\b(?-i:DAP|CIF|CIP|CPT|CFR|DPU|FOB|FCA)\b[ ,:(]{1,3}(?:[\w'’.-]{1,24} ){0,3}?(?:(?:air)?ports?|havn|hafen|\w*flughafen|aéroport|aeropuerto|aeroporto|puerto|porto|haven|"
    r"hamn|satama|lufthavn|luchthaven|flygplats|lotnisko|letiště)\b|(?-i:DAP|CIF|CIP|CPT)[^.;]{0,12}(?:港|空港|항|공항)"
)
_LAST_LEG = pattern(
    r"(?i)\b(?:inland|last leg|on-?carriage|to (?:the )?(?:site|hall|data ?cent(?:er|re))|haulage|truck\w*|trucking|nachlauf|post-?acheminement|acarreo|doprava na|own (?:haulier|carrier|forwarder))\b"
)


_TO_SITE = pattern(r"\b(?:DAP|DDP|DPU)\b")
_BUYER_CARRIES = pattern(r"\b(?:EXW|FCA|FAS|FOB)\b")
"""Incoterms by which the buyer carries the goods to the site; `_TO_SITE` has those by which the seller does."""


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    yield from _other_term_problem(procurement.quote, remarks)
    milestones = (procurement.delivery.milestones if procurement.delivery is not None else None) or ()
    places: list[tuple[Path, str]] = [
        (quote_path(index, "part"), line.part or "") for index, line in enumerate(procurement.quote)
    ]
    places += [(("procurement", "delivery", "milestones", index), each) for index, each in enumerate(milestones)]
    if any(_LAST_LEG.search(text) is not None for text in (remarks, *map(plain_part, procurement.quote))):
        return
    for at, text in places:
        found = _TO_PORT.search(text)
        if found is not None:
            message = f"`{found[0]}` ends the delivery at a port: no line pays for the way from there to the site"
            yield RULE.problem(
                at, message, "ask for a delivery to the site, or order the rest of the way with its insurance"
            )
            return


def _other_term_problem(quote: Sequence[QuoteLine], remarks: str) -> Iterator[Problem]:
    """The problem of a line by whose Incoterm the buyer carries the goods, if by the description the seller brings them
    to the site.
    """
    agreed = _TO_SITE.search(remarks)
    if agreed is None or _BUYER_CARRIES.search(remarks) is not None:
        return
    for index, line in enumerate(quote):
        found = _BUYER_CARRIES.search(line.part or "")
        if found is not None:
            message = f"the quote is {found[0]}, by which the buyer pays for the way, but according to the text the delivery is {agreed[0]}"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, f"ask for a price {agreed[0]}, or order the freight with its insurance")
            return
