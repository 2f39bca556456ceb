"""The quote is above the amount that its signatories may sign.

## What it finds

Signatories in `document.signatories` with the amount up to which each may sign (`head of IT, up to 50,000 EUR`), all of them
below the total of the quote in the same currency. The finding is a warning.

## Why it matters

The order waits for another signature, or is not valid, and prices, slots of production and dates lapse meanwhile.

## What to do

Add somebody who may sign the amount, and plan the time that the approval takes.

## When to ignore it

Ignore it where the amounts of several signatories are added.

## Fires

```yaml document.signatories
clusterspec: 1
document: {signatories: ["Head of research computing (may sign up to 500,000 USD)"]}
cluster: {platform: dgx-h200, nodes: 2}
procurement:
  currency: USD
  quote: [{part: "DGX H200", quantity: 2, unit_price: 310000}]
```

## Silent

```yaml
clusterspec: 1
document: {signatories: ["Head of research computing (may sign up to 500,000 USD)", "Chief financial officer"]}
cluster: {platform: dgx-h200, nodes: 2}
procurement:
  currency: USD
  quote: [{part: "DGX H200", quantity: 2, unit_price: 310000}]
```

## Sources

- Amounts that each position may approve: https://spu.atlassian.net/wiki/spaces/POL/pages/178454658/Purchasing+Authority+Thresholds
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import amount_of_quote
from clusterspec.rules.knowledge.purchases import ROUNDED, money_text
from clusterspec.rules.readers.purchases.contract_words import AMOUNT
from clusterspec.rules.readers.written_numbers import amount_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec, Spec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_UP_TO = pattern(
    r"(?i)\b(?:up to|below|under|max(?:imum|\.)?|limit(?:ed to)?|not above|bis(?: zu)?|unter|jusqu'à|jusque|hasta|até|fino a|tot|upp till|op til|opp til|do|asti)\b(?:[^\d,;()]{0,24})$"
)
"""Pattern of the end of the text before an amount that is a limit."""
_CURRENCIES = {"EUR": "€|eur", "USD": r"\$|usd|dollars?", "GBP": "£|gbp|pounds?", "CHF": "chf|fr", "JPY": "¥|円|jpy"}
"""Signs of each currency; other currencies are written by their code."""


def check(spec: Spec, procurement: ProcurementSpec) -> Iterator[Problem]:
    signatories = spec.document.signatories if spec.document is not None else None
    if not signatories:
        return
    total, currency = amount_of_quote(procurement), procurement.currency or "USD"
    limits = [_limit_of(each, currency) for each in signatories]
    known = [each for each in limits if each is not None]
    if total is None or not known or len(known) < len(limits) or total <= max(known) * ROUNDED:
        return
    message = f"the signatories may sign up to {money_text(f'{max(known):,.0f}', currency)}, but the quote comes to {money_text(f'{total:,.0f}', currency)}"
    yield RULE.problem("document.signatories", message, "add somebody who may sign this amount")


def _limit_of(text: str, currency: str) -> float | None:
    """The amount up to which a person may sign, if a text states exactly one, in the currency of the quote; else None.

    >>> _limit_of("Leitung Rechenzentrum (zeichnungsberechtigt bis 50.000 EUR brutto)", "EUR")
    50000.0
    >>> _limit_of("Chair of the board since 2019", "EUR"), _limit_of("CFO (up to 2,000,000 USD)", "EUR")
    (None, None)
    """
    found = [each for each in AMOUNT.finditer(text) if _UP_TO.search(text[: each.start()]) is not None]
    signs = pattern(rf"(?i)(?:{_CURRENCIES.get(currency, currency)})(?![a-z])")
    return amount_in_text(found[0][0]) if len(found) == 1 and signs.search(text) is not None else None
