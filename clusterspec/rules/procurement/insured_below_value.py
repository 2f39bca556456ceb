"""A transport or an advance payment is covered for less than its value.

## What it finds

An insured amount in a line or a milestone for freight, or in the description, below the price of the most expensive
line of shipped hardware; and a guarantee of the advance payment, by the description or a line, below the share of
`quoted_total` that is due with the order. Both are warnings.

## Why it matters

An insurer pays in proportion: for goods insured at half of their value, it pays half of every damage, even of a small
one. The part of an advance that no guarantee covers is lost if the supplier fails before the delivery.

## What to do

Insure the whole consignment at its price, or split it into consignments below the amount. Ask for a guarantee of the whole
advance, or pay less of it.

## When to ignore it

Ignore it where the machines travel in several consignments, each below the insured amount.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
procurement:
  currency: BRL
  quote:
    - {part: "DGX B200", quantity: 8, unit_price: 3350000, price: 26800000}
    - {part: "Freight and insurance to Campinas, one consignment, insured for R$ 12,000,000", quantity: 1, price: 90000}
```

```yaml description
clusterspec: 1
description: The supplier's bank guarantee for the advance payment is over 5,000,000 USD.
procurement:
  currency: USD
  quoted_total: 15000000
  payment: {order: 0.5, delivery: 0.5}
  quote: [{part: "DGX B200", quantity: 40, unit_price: 375000, price: 15000000}]
```

## Silent

```yaml
clusterspec: 1
procurement:
  currency: BRL
  quote:
    - {part: "DGX B200", quantity: 8, unit_price: 3350000, price: 26800000}
    - {part: "Freight and insurance to Campinas, insured for R$ 12,000,000 per consignment, three consignments", quantity: 1, price: 90000}
```

## Sources

- Average in marine insurance (Marine Insurance Act 1906, section 81): https://www.legislation.gov.uk/ukpga/Edw7/6/41/section/81
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price
from clusterspec.rules.knowledge.purchases import money_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import AMOUNT
from clusterspec.rules.readers.written_numbers import NUMBER, amount_in_text, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
SAME = 0.01
"""Relative difference up to which two amounts are equal, one of them rounded."""
_INSURED = pattern(
    r"\b(?:insured (?:for|at|value|sum|amount)|sum insured|insurance (?:of|up to|for)|versicherungssumme|versichert (?:bis|mit|über)|valeur assurée|assuré\w* (?:pour|à hauteur)|suma asegurada|"
    r"importancia segurada|importância segurada|somma assicurata|valore assicurato|verzekerd(?:e)? (?:som|bedrag|voor)|försäkr\w* (?:till|för|belopp)|forsikr\w* (?:for|sum|højst|indtil)|(?:transport)?forsikring\w*|transportversicherung\w*|(?:transport|cargo) insurance)\b|保険金額|보험금액|保险金额"
)
_TRAVELS = pattern(
    r"\b(?:freight|transport|shipping|shipment|consignment|delivery|transit|cargo|frete|embarque|versand|livraison|transporte|transportforsikring\w*|transportversicherung\w*|fragt|forsendelse)\b"
)
_MILLIONS = pattern(rf"{NUMBER} ?(?:mio\.?|million(?:s|er|en|es|i)?|millones|milhões|milioni|miljoner|mln\.?)(?![a-z])")
_SEVERAL = pattern(
    r"\b(?:per|each|every) (?:consignment|shipment|delivery|truck|lot|item)\b|\b(?:two|three|four|several|\d) (?:consignments|shipments|deliveries|trucks|lots)\b"
)


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    yield from _uncovered_advance_problem(procurement, texts)
    dearest = max((float(line_price(line) or 0) for line in procurement.quote), default=0.0)
    for at, text in texts.placed:
        if _INSURED.search(text) is None or _TRAVELS.search(text) is None or _SEVERAL.search(text) is not None:
            continue
        amounts = _amounts_in(text)
        if len(amounts) == 1 and 0 < amounts[0] < dearest * (1 - (procurement.discount or 0)):
            value = money_text(f"{dearest * (1 - (procurement.discount or 0)):,.0f}", procurement.currency)
            message = f"the transport is insured for {money_text(f'{amounts[0]:,.0f}', procurement.currency)}, but one line of the quote alone is worth {value}"
            yield RULE.problem(at, message, "insure the whole consignment, or split it")
            return


_GUARANTEE = pattern(r"\b(?<!performance )(?:guarantee|bond)s?\b")
_ADVANCE = pattern(
    r"\b(?:advance|down)[- ]payment\b[^.;]{0,60}\b(?:guarantee|bond)\b|\b(?:guarantee|bond)\b[^.;]{0,60}\b(?:advance|down|payment with (?:the )?order)\b"
)


def _uncovered_advance_problem(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a guarantee that is smaller than the advance payment due with the order."""
    share, total = procurement.payment.order if procurement.payment is not None else None, procurement.quoted_total
    if not share or not total:
        return
    advance = float(share) * float(total)
    guarded = [(at, text) for at, text in texts.placed if _GUARANTEE.search(text) is not None]
    for at, text in guarded if any(_ADVANCE.search(text) for _, text in guarded) else ():
        amounts = _amounts_in(text)
        if len(amounts) == 1 and 0 < amounts[0] < advance * (1 - SAME):
            covered, due = (money_text(f"{each:,.0f}", procurement.currency) for each in (amounts[0], advance))
            message = f"the guarantee covers {covered}, but {due} are due with the order"
            yield RULE.problem(at, message, "ask for a guarantee of the whole advance, or pay less of it")
            return


def _amounts_in(text: str) -> list[float]:
    """The amounts of money in a lowercase text."""
    return [
        *(amount_in_text(each) for each in AMOUNT.findall(text)),
        *(number_in_text(each) * 1e6 for each in _MILLIONS.findall(text)),
    ]
