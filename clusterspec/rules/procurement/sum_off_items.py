"""A total of the text is not the sum of the amounts listed with it.

## What it finds

In one sentence of the description or the comments:

- at least three amounts of money and a total of them (`in total`, `together`, `sum`), which their sum misses by up to a tenth;
- at least three shares of a payment (`30 % with the order, 40 % on delivery, 40 % at acceptance`) that do not sum to 100 %;
- a tax that is its rate times the amount with the tax (`1,190,000 EUR including 19 % VAT, of which 226,100 EUR are VAT`), or a net
  amount that is the gross one less the rate.

Sums that differ by more belong to other amounts and are not judged.

## Why it matters

Budgets are approved by such sentences. An amount that was changed after the total, or a share too many, is found at the first
invoice.

## What to do

Add the amounts again. The tax in a gross amount G at the rate r is G r / (1 + r).

## When to ignore it

Ignore it where the total has a part that the sentence does not name.

## Fires

```yaml description
clusterspec: 1
description: Hardware 7,200,000 EUR, support 1,300,000 EUR and the hall 800,000 EUR are 9,600,000 EUR in total.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR, budget: 9600000}
```

```yaml description
clusterspec: 1
description: The price is paid 30 % with the order, 40 % on delivery and 40 % after acceptance.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR, budget: 9600000}
```

```yaml description
clusterspec: 1
description: The offer is 1,190,000 EUR including 19 % VAT, of which 226,100 EUR are VAT.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: EUR, tax: 0.19}
```

## Silent

```yaml
clusterspec: 1
description: >
  Hardware 7,200,000 EUR, support 1,300,000 EUR and the hall 800,000 EUR are 9,300,000 EUR in total, paid 30 % with the order, 40 %
  on delivery and 30 % after acceptance. The hall is 952,000 EUR including 19 % VAT, of which 152,000 EUR are VAT.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR, budget: 9600000}
```

## Sources

- The tax in a gross price: https://www.gov.uk/tax-on-shopping/vat-rates
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import amount_text
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.purchases.orders import TAX_NAMES
from clusterspec.rules.readers.results.equations import MONEY, has_only_periods
from clusterspec.rules.readers.subjects import is_share_of_another
from clusterspec.rules.readers.tokens import UNITS, Token, tokens_of
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units.display import plain

RULE = Rule.of(__name__, "warning", "likely")
SAME = 0.002
"""Relative difference up to which a sum equals a rounded total."""
NEAR = 0.1
"""Smallest relative difference at which the amounts cannot be the parts of the total."""
LEAST_PARTS = 3
_TOTAL = pattern(
    r"(?i)\b(?:in total|totals?|altogether|together|in all|in sum|sums? (?:to|up)|add up to|zusammen|insgesamt|in summe|summe|au total|en total|total de|en tout|in totale|totaal|samen|totalt|sammen|razem|łącznie)\b"
)
_PART_OF = pattern(
    r"(?i)\b(?:about|up to|at least|per|each|every|instead|against|than|or|versus|vs|x|option\w*|if)\b|[×*=/]|\bof which\b"
)
"""Pattern of words and signs in a sentence whose amounts are not summed."""
_PAID = pattern(
    r"(?i)\b(?:pa(?:y|id|yments?|yable|ys)|instal?ments?|zahl\w*|anzahlung|bezahlt|paiement|payé\w*|pago\w*|pagamento|betaling|betaald|invoiced?|due)\b"
)
_STEPS = pattern(
    r"(?i)\b(?:order\w*|deliver\w*|accept\w*|sign\w*|install\w*|bestell\w*|liefer\w*|abnahme|commande|livraison|recette|réception|pedido|entrega|aceptación|ordine|consegna|collaudo|completion|handover)\b"
)
_SMALL = pattern(r"(?<![\d.,])\d{1,2}(?![\d.,%])")
"""A small whole number, such as of years."""
_SHARE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%")
_TAX = pattern(rf"(?i)\b(?:{TAX_NAMES})\b")
_GROSS = pattern(r"(?i)\b(?:incl\w*|inkl\w*|gross|brutto|ttc|with|inbegrepen|inclus\w*|con iva|com iva)\b")
_ADDED = pattern(r"(?i)\b(?:plus|zzgl|excl\w*|exkl\w*|exclud\w*|without|net of|hors|ht|before|ohne)\b|\+")


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if "%" not in remarks and not any(
        each in remarks.lower() for each in ("total", "together", "zusammen", "insgesamt", "all")
    ):
        return
    for clause in sentences_of(remarks):
        for message, help_ in (*_wrong_totals(clause), *_wrong_shares(clause), *_wrong_taxes(clause)):
            yield RULE.problem("description", message, help_)


def _amounts(clause: str) -> list[Token]:
    """The amounts of money in a sentence, without prices per unit."""
    return [
        each
        for each in tokens_of(clause)
        if each.unit and UNITS[each.unit][1] == MONEY and has_only_periods(each) and len(each.values) == 1
    ]


def _wrong_totals(clause: str) -> Iterator[tuple[str, str]]:
    """Messages and remedies on totals that their amounts, three or more, nearly but not exactly add up to."""
    if _TOTAL.search(clause) is None or _PART_OF.search(clause) is not None:
        return
    tokens = _amounts(clause)
    values = [each.values[0] * each.scale for each in tokens]
    if len(tokens) <= LEAST_PARTS or len({each.unit for each in tokens}) != 1:
        return
    total = max(values)
    parts = [each for each in values if each != total]
    last = values[-1] == total or values[0] == total
    whole = sum_of(parts)
    if last and len(parts) == len(values) - 1 and SAME < abs(whole / total - 1) <= NEAR and not _has_subtotal(parts):
        if _is_multiplied(parts, total, clause):
            return
        token = tokens[values.index(total)]
        right = amount_text(whole / token.scale)
        yield (
            f"the {len(parts)} amounts sum to {right} {token.unit}, not to {amount_text(total / token.scale)}",
            "add them again",
        )


def _has_subtotal(parts: Sequence[float]) -> bool:
    """Whether an amount is the sum of all amounts before it."""
    return any(abs(sum_of(parts[:at]) / parts[at] - 1) <= SAME for at in range(2, len(parts)))


def _is_multiplied(parts: Sequence[float], total: float, clause: str) -> bool:
    """Whether one amount, times a small number of the sentence, completes the total: `three years at 70,000 EUR`.

    >>> _is_multiplied([1000.0, 300.0, 50.0], 1450.0, "1000, 300 and three years of 50, 1450 in total")
    True
    """
    counts = {int(each) for each in _SMALL.findall(with_digits(clause))}
    return any(
        abs((sum_of(parts) + (count - 1) * each) / total - 1) <= SAME for count in counts for each in parts if count > 1
    )


def _wrong_shares(clause: str) -> Iterator[tuple[str, str]]:
    """Messages and remedies on shares of a payment, each with its step, that do not add up to 100 %."""
    found = [each for each in _SHARE.finditer(clause) if not is_share_of_another(clause, *each.span())]
    shares = [float(each[1].replace(",", ".")) for each in found]
    steps = len(_STEPS.findall(clause))
    if len(shares) >= LEAST_PARTS and steps >= len(shares) and _PAID.search(clause) is not None:
        total = sum_of(shares)
        if 0.01 < abs(total - 100) <= 30 and not any(abs(total - each - 100) < 0.01 for each in shares):
            yield f"the shares of the payment sum to {plain(total, 4)} %", "correct the shares"


def _wrong_taxes(clause: str) -> Iterator[tuple[str, str]]:
    """Messages and remedies on a tax that is the rate times the gross amount, and on a net amount that is the gross
    amount less that tax.
    """
    rates = {float(each.replace(",", ".")) / 100 for each in _SHARE.findall(clause)}
    if len(rates) != 1 or _TAX.search(clause) is None or _GROSS.search(clause) is None or _ADDED.search(clause):
        return
    (rate,) = rates
    tokens = _amounts(clause)
    values = [each.values[0] * each.scale for each in tokens]
    if len(values) < 2 or len({each.unit for each in tokens}) != 1 or not rate:
        return
    gross = max(values)
    for token, value in zip(tokens, values, strict=True):
        for wrong, right, what in (
            (gross * rate, gross * rate / (1 + rate), "tax in"),
            (gross * (1 - rate), gross / (1 + rate), "net amount of"),
        ):
            if abs(value / wrong - 1) <= SAME and abs(value / right - 1) > SAME:
                good = amount_text(round(right / token.scale, 2))
                yield (
                    f"the {what} {amount_text(gross / token.scale)} {token.unit} at {rate * 100:g} % is {good}, not {amount_text(value / token.scale)}",
                    "divide the amount with tax by one plus the rate",
                )
                return
