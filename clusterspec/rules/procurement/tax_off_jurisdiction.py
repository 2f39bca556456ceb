"""The tax rate is not one of the country or province of the purchase.

## What it finds

A `tax` that is neither zero nor the general rate of the country whose currency the quote is in, or of the only Canadian
province that the texts name. Currencies of several countries, such as the euro, are not judged. A text that explains the rate
(reduced, mixed, effective) is silent.

## Why it matters

The total of the quote is wrong by the difference, and the invoice is corrected after the budget is approved.

## What to do

Ask the supplier for the rate on the invoice, and write that rate.

## When to ignore it

Ignore it where lines of several rates are taxed together; say so in the description.

## Fires

```yaml procurement.tax
clusterspec: 1
description: Two machines for a university in Ontario.
cluster: {platform: dgx-h200, nodes: 2}
procurement:
  currency: CAD
  tax: 0.05
  quote: [{part: "DGX H200", quantity: 2, unit_price: 420000}]
```

## Silent

```yaml
clusterspec: 1
description: Two machines for a university in Ontario.
cluster: {platform: dgx-h200, nodes: 2}
procurement:
  currency: CAD
  tax: 0.13
  quote: [{part: "DGX H200", quantity: 2, unit_price: 420000}]
```

## Sources

- General rates: https://github.com/valeriansaliou/node-sales-tax/blob/020835d4537bb230b46f8e906227196dcca50d6c/res/sales_tax_rates.json
- Rates of the provinces: https://www.avalara.com/us/en/vatlive/country-guides/north-america/canada/canadian-vat-compliance-and-rates.html
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.finding import Problem
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", "likely")
GENERAL = {
    "AUD": 0.1,
    "CHF": 0.081,
    "CLP": 0.19,
    "CZK": 0.21,
    "DKK": 0.25,
    "GBP": 0.2,
    "HUF": 0.27,
    "JPY": 0.1,
    "KRW": 0.1,
    "MXN": 0.16,
    "NOK": 0.25,
    "NZD": 0.15,
    "PLN": 0.23,
    "SEK": 0.25,
    "SGD": 0.09,
}
"""For each currency, the general tax rate of its country as a share of the price."""
PROVINCES = {
    r"alberta|calgary|edmonton": (0.05,),
    r"british columbia|vancouver": (0.12, 0.05),
    r"manitoba|winnipeg": (0.12, 0.05),
    r"new brunswick|newfoundland|prince edward island": (0.15,),
    r"nova scotia|halifax": (0.14, 0.15),
    r"ontario|toronto|ottawa|waterloo": (0.13,),
    r"qu[ée]bec|montr[ée]al": (0.14975, 0.05),
    r"saskatchewan|regina|saskatoon": (0.11, 0.05),
}
"""For each province, its tax rates with and without its own tax; the tax of Nova Scotia fell in April 2025."""
_EXPLAINED = pattern(
    r"\b(?:reduced|mixed|blended|weighted|average|effective|partly|partial\w*|exempt\w*|rebates?|ermäßigt\w*|réduit\w*|reducid\w*|reduzid\w*|ridott\w*)\b"
)
SAME = 1e-3
"""Relative difference up to which a rounded rate is right."""


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    tax = procurement.tax
    if not tax:
        return
    allowed, where = _rates(procurement.currency, texts)
    if not allowed or any(isclose(tax, each, rel_tol=SAME) for each in allowed):
        return
    if _EXPLAINED.search(texts.description) is None:
        message = f"a tax of {percent(tax, 5)} is not that of {where}: {percent(allowed[0], 5)}"
        yield RULE.problem("procurement.tax", message, "ask the supplier for the rate of the invoice")


def _rates(currency: str | None, texts: PurchaseTexts) -> tuple[tuple[float, ...], str]:
    """The possible tax rates of a purchase and their origin; empty if unknown."""
    if currency == "CAD":
        written = texts.remarks.lower()  # not in English: "nova" of Nova Scotia is a word of other languages, too
        named = [(names, rates) for names, rates in PROVINCES.items() if pattern(rf"\b(?:{names})\b").search(written)]
        if len(named) != 1:
            return (), ""
        return named[0][1], named[0][0].partition("|")[0].replace("qu[ée]bec", "Quebec").title()
    rate = GENERAL.get(currency or "")
    return ((rate,), f"purchases in {currency}") if rate is not None else ((), "")
