"""The funding does not cover the purchase.

## What it finds

- the rest of a framework agreement, which is its maximum less what the same sentence calls off from it, below the
  quote: an error. Amounts that the sentence calls net are compared with the quote without tax;
- a tax that the buyer owes under the reverse charge and may not deduct, with which the quote exceeds `budget`: an
  error;
- a tax that the funds have to pay and the buyer may not deduct according to the text, and that the quote and the keys leave out,
  with which the quote exceeds `budget`: an error;
- a grant of a share of eligible costs, up to its cap, with own funds that pay less than the quote together: an error. Without
  tax in the eligible costs, the quote counts without tax too, unless the buyer cannot deduct it;
- a grant or budget that excludes support, maintenance or operation, according to the description, and a quote with a
  line for it, where no text names another budget: a warning.

## Why it matters

The part that the funds do not cover has no budget: the order is void, or the project repays a part of the grant.

## What to do

Reduce the order, or find the money for the rest before it is signed.

## When to ignore it

Ignore it where other funds cover the rest, and say so in the description.

## Fires

```yaml procurement.quoted_total
clusterspec: 1
description: Call-off from the framework of the consortium (maximum EUR 18,000,000 net for all; EUR 2,640,000 of it called off by lot 1).
procurement: {currency: EUR, tax: 0.19, quoted_total: 19168453, quote: [{part: "HGX server", quantity: 8, price: 16107944}]}
```

```yaml procurement.tax
clusterspec: 1
description: A hospital without the right to deduct VAT; the provider invoices under the reverse charge and we declare the 21 % at home.
procurement: {currency: USD, tax: 0, budget: 1200000, quoted_total: 1171050, quote: [{part: "GPU hours", quantity: 1, price: 1171050}]}
```

```yaml procurement.quote[1].part
clusterspec: 1
description: The only grant pays for investment; maintenance and operation are not eligible.
procurement: {currency: EUR, quote: [{part: "HGX server", quantity: 8, price: 2400000}, {part: "Support, 4 years", quantity: 1, price: 186000}]}
```

```yaml procurement.budget
clusterspec: 1
description: The fund pays 70 % of eligible costs, at most EUR 9,000,000; VAT is not eligible, and we cannot deduct it. Own funds of EUR 6,000,000 are voted.
procurement: {currency: EUR, tax: 0.23, budget: 15000000, quoted_total: 14760000, quote: [{part: "HGX server", quantity: 8, price: 12000000}]}
```

```yaml procurement.budget
clusterspec: 1
description: The grant includes VAT, which we cannot reclaim. The bidder quotes all items net, and the rate is 19 %.
procurement: {currency: EUR, budget: 9800000, quoted_total: 9408000, quote: [{part: "HGX server", quantity: 24, price: 9408000}]}
```

## Silent

```yaml
clusterspec: 1
description: Call-off from the framework (maximum EUR 18,000,000 net for all; EUR 1,640,000 of it called off). Maintenance is not eligible and paid by the institute.
procurement: {currency: EUR, tax: 0.19, quoted_total: 19168453, quote: [{part: "HGX server", quantity: 8, price: 15921944}, {part: "Support, 4 years", quantity: 1, price: 186000}]}
```

```yaml
clusterspec: 1
description: The fund pays 70 % of eligible costs, at most EUR 9,000,000; VAT is not eligible, and we cannot deduct it. Own funds of EUR 6,400,000 are voted.
procurement: {currency: EUR, tax: 0.23, budget: 15000000, quoted_total: 14760000, quote: [{part: "HGX server", quantity: 8, price: 12000000}]}
```

## Sources

- A framework ends with its maximum (C-23/20, Simonsen & Weel): https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:62020CJ0023
- Reverse charge: https://taxation-customs.ec.europa.eu/taxation/vat/vat-businesses_en
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import amount_of_quote, line_price
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.knowledge.purchases import amount_text, money_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import AMOUNT
from clusterspec.rules.readers.quotes.support import sells_support
from clusterspec.rules.readers.written_numbers import amount_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
_FRAMEWORK = pattern(
    r"\b(?:framework\w*|rahmen(?:vertrag|vereinbarung)\w*|accord-cadre|acuerdo marco|acordo-quadro|accordo quadro|raamovereenkomst|raamcontract|ramavtal\w*|rammeaftale|rammeavtale|call-off|takbelopp|abruf\w*)\b"
)
_MOST = pattern(
    r"\b(?:maxim\w*|ceiling|takbelopp|cap|capped|at most|up to|limit\w*|höchst\w*|plafond|tope|teto|massim\w*|höchstens|tak|loft)\b"
)
_USED = pattern(
    r"\b(?:called off|used|spent|drawn|consumed|ordered|abgerufen|verbraucht|consommé\w*|consumid\w*|utilizad\w*|utilizzat\w*|afgeroepen|avropat|trukket)\b"
)
_NET = pattern(r"\b(?:net|netto|excl\w*|without|ht|hors taxes|ohne|sin|sem|senza)\b")
_REVERSE = pattern(
    r"\breverse[- ]charged?\b|\bautoliquidation\b|\binversi[oó]n del sujeto pasivo\b|\breverse-charge-verfahren\b|\binversione contabile\b|\bverlegd\b|\bomvänd\b"
)
_NOT_DEDUCTED = pattern(
    r"\b(?:without|no|not|cannot|can not|may not|ohne|nicht|sans|ne peut|sin|sem|senza|zonder|niet|ej|inte|ikke|geen|kein|keine|aucun|no right|brez)\b[^.;]{0,40}?\b(?:deduct\w*|recover\w*|reclaim\w*|vorsteuer\w*|déduct\w*|récupér\w*|deduc\w*|detra\w*|aftrek\w*|avdra\w*|fradrag\w*)\b"
)
_PERCENT = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d)?) ?%")
_RUNNING = r"(?:maintenance|support|operati\w*|running costs|opex|services?|wartung|betrieb\w*|fonctionnement|mantenimiento|funcionamiento|manutenção|manutenzione|onderhoud|underhåll|drift)"
_EXCLUDED = pattern(
    rf"\b{_RUNNING}\b[^.;]{{0,60}}?\b(?:ineligible|inéligibles?|not (?:eligible|funded|covered|fundable)|nicht (?:förderfähig|zuwendungsfähig)|non éligibles?|no (?:subvencionables?|elegibles?)|"
    rf"não elegíveis|non ammissibili|niet subsidiabel)\b|\b(?:ineligible|not eligible|excludes?|excluding|nicht förderfähig|hors)\b[^.;]{{0,30}}?\b{_RUNNING}\b"
)
_OF_FUNDS = pattern(
    r"\b(?:grants?|funds?|funding|budget|subsid\w*|subvention\w*|subvenci\w*|financement|förder\w*|zuwendung\w*|invest\w*|capex|appropriation|bidrag|contribut\w*|finanziament\w*)\b"
)
_PAID_ELSEWHERE = pattern(
    r"\b(?:paid by|borne by|from the|own budget|own funds|separate\w*|another|other (?:budget|funds|money)|institute|department|operating budget)\b"
)


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote or not texts.remarks:
        return
    total, text = amount_of_quote(procurement), texts.description
    sentences = sentences_of(text)
    if total is not None:
        yield from _framework_problem(procurement, total, text)
        yield from _reverse_charge_problem(procurement, total, text)
        yield from _untaxed_quote_problem(procurement, total, texts.remarks)
        yield from _grant_problem(procurement, total, texts.remarks)
    excluded = [each for each in sentences if _EXCLUDED.search(each) is not None]
    if excluded and _OF_FUNDS.search(text) is not None and _PAID_ELSEWHERE.search(" ".join(excluded)) is None:
        for index, line in enumerate(procurement.quote):
            price = line_price(line)
            if price and price > 0 and sells_support(plain_part(line)):
                message = f"`{name_of_part(line.part)}` costs {money_text(amount_text(float(price)), procurement.currency)}, but according to the text the funds exclude support and operation"
                at = quote_path(index, "part")
                yield RULE.problem(at, message, "say what pays for it", severity="warning")
                return


ROUNDED = 0.005
"""Relative difference up to which funds and a price are equal."""


def _grant_problem(procurement: ProcurementSpec, total: float, text: str) -> Iterator[Problem]:
    """The problem of a quote above what a grant, a share of eligible costs, and own funds pay together."""
    from clusterspec.rules.readers.purchases.funds import funds_for  # for quotes with a text alone

    funds = funds_for(text, total, procurement.tax or 0.0)
    if funds is None or funds.paid >= funds.price * (1 - ROUNDED):
        return
    missing = money_text(f"{funds.price - funds.paid:,.0f}", procurement.currency)
    message = f"according to the text, {funds.how}: {missing} of the {money_text(f'{funds.price:,.0f}', procurement.currency)} of the quote are missing"
    key = "procurement.budget" if procurement.budget is not None else "procurement.quote"
    yield RULE.problem(key, message, "order less, or raise the own funds")


def _framework_problem(procurement: ProcurementSpec, total: float, text: str) -> Iterator[Problem]:
    """The problem of a quote above the rest of a framework agreement, by the amounts in one sentence."""
    for sentence in text.split(". "):
        amounts = [amount_in_text(each) for each in AMOUNT.findall(sentence)]
        if _FRAMEWORK.search(sentence) is None or _MOST.search(sentence) is None or not 0 < len(amounts) < 3:
            continue
        used = min(amounts) if len(amounts) > 1 and _USED.search(sentence) is not None else 0.0
        net = _NET.search(sentence) is not None
        asked, left = total / (1 + (procurement.tax or 0.0) if net else 1.0), max(amounts) - used
        if asked > left > 0:
            message = f"the quote of {money_text(f'{asked:,.0f}', procurement.currency)}{' without tax' if net else ''} is above the {money_text(f'{left:,.0f}', procurement.currency)} that are left of the framework according to the text"
            key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
            yield RULE.problem(key, message, "order less, or procure the rest in another way")
            return


def _untaxed_quote_problem(procurement: ProcurementSpec, total: float, text: str) -> Iterator[Problem]:
    """The problem of a net quote that exceeds a budget with tax once the tax of the text is added."""
    if procurement.tax or procurement.budget is None or total > procurement.budget:
        return
    from clusterspec.rules.readers.purchases.funds import tax_on_quote  # for quotes without a tax alone

    rate = tax_on_quote(text)
    if total * (1 + rate) > procurement.budget:
        message = f"according to the text, the funds include the tax and the quote does not: with {percent(rate)} it is {money_text(f'{total * (1 + rate):,.0f}', procurement.currency)}, above the budget of {money_text(f'{procurement.budget:,}', procurement.currency)}"
        yield RULE.problem("procurement.budget", message, f"state `tax: {rate:g}`, and order less or raise the budget")


def _reverse_charge_problem(procurement: ProcurementSpec, total: float, text: str) -> Iterator[Problem]:
    """The problem of a reverse-charge tax that the buyer may not deduct, if the budget does not include it."""
    if procurement.tax or procurement.budget is None or _REVERSE.search(text) is None:
        return
    near = [
        each
        for each in sentences_of(text)
        if _REVERSE.search(each) is not None or _NOT_DEDUCTED.search(each) is not None
    ]
    rates = {float(each.replace(",", ".")) / 100 for sentence in near for each in _PERCENT.findall(sentence)}
    if _NOT_DEDUCTED.search(" ".join(near)) is None or len(rates) != 1:
        return
    (rate,) = rates
    if total * (1 + rate) > procurement.budget:
        message = f"the buyer owes {percent(rate)} of tax under the reverse charge and may not deduct it: {money_text(f'{total * (1 + rate):,.0f}', procurement.currency)} in all, above the budget of {money_text(f'{procurement.budget:,}', procurement.currency)}"
        yield RULE.problem(
            "procurement.tax",
            message,
            f"state `tax: {rate:g}` and the total with it, and raise the budget or order less",
        )
