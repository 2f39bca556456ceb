"""An amount of the text does not follow from its terms.

## What it finds

In one sentence of the description or the comments:

- the amount of a share of the price (`a retention of 5 % of the contract price is 49,700 EUR`) that is a tenth of, or
  ten times, this share of the total, of the lines, of one line or of the budget, or above this share of each of them;
- a discounted price that is not the price less the discount (`the list price of 98.32 USD an hour with a discount of 45
  % is 44.24`);
- a sum over years that takes the price of the first year for all of them, although the price rises by a percentage
  every year;
- a tax on imports that is taken on the goods alone, although the sentence adds a duty to them;
- a mean of two tariffs that gives both the same weight, although their hours differ.

## Why it matters

Retentions, bonds and insurance sums are set by such sentences, and a sum without its increases is too low by 6 % after five years
at 3 % a year. Taxes on imports are taken on the customs value with the duty.

## What to do

Multiply again. The sum of n years from A at the rate p is A ((1 + p)ⁿ - 1) / p.

## When to ignore it

Ignore it where the amount belongs to another contract.

## Fires

```yaml description
clusterspec: 1
description: The buyer keeps a retention of 5 % of the contract price, 49,700 EUR, until the end of the warranty.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR, quoted_total: 9940000}
```

```yaml description
clusterspec: 1
description: Support is 150,000 EUR in the first year and rises by 3 % per year, which is 750,000 EUR over 5 years.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR}
```

```yaml description
clusterspec: 1
description: On goods of 2,000,000 EUR the duty of 4 % is 80,000 EUR, and the import VAT of 19 % is 380,000 EUR.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: EUR}
```

```yaml description
clusterspec: 1
description: Power is 0.20 EUR per kWh for 16 hours and 0.12 EUR per kWh for 8 hours, a mean of 0.16 EUR per kWh.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: EUR}
```

```yaml description
clusterspec: 1
description: The list price of 98.32 USD an hour with a committed-use discount of 45 % is 44.24 USD an hour.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: USD}
```

## Silent

```yaml
clusterspec: 1
description: The list price of 98.32 USD an hour with a committed-use discount of 45 % is 54.08 USD an hour.
cluster: {platform: dgx-h200, nodes: 4}
procurement: {currency: USD}
```

```yaml
clusterspec: 1
description: >
  The buyer keeps a retention of 5 % of the contract price, 497,000 EUR, until the end of the warranty. Support is 150,000 EUR in
  the first year and rises by 3 % per year, which is 796,370 EUR over 5 years. On goods of 2,000,000 EUR the duty of 4 % is 80,000
  EUR, and the import VAT of 19 % is 395,200 EUR. Power is 0.20 EUR per kWh for 16 hours and 0.12 EUR per kWh for 8 hours, a mean of
  0.173 EUR per kWh.
cluster: {platform: dgx-h200, nodes: 16}
procurement: {currency: EUR, quoted_total: 9940000}
```

## Sources

- The value for VAT on imports includes duties: Council Directive 2006/112/EC, articles 85 and 86, https://eur-lex.europa.eu/eli/dir/2006/112/oj
- Sums of growing payments: https://openstax.org/books/principles-finance/pages/8-2-annuities
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price
from clusterspec.rules.knowledge.purchases import amount_text
from clusterspec.rules.readers.purchases.orders import TAX_NAMES
from clusterspec.rules.readers.results.equations import MONEY, has_only_periods
from clusterspec.rules.readers.tokens import UNITS, Token, tokens_of
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units.display import plain

RULE = Rule.of(__name__, "warning", "likely")
SAME = 0.002
"""Relative difference up to which a rounded amount follows from its terms."""
CUES = ("%", "mean", "average", "Mittel", "moyen", "medi")
_OF_PRICE = pattern(
    r"(?i)(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?) ?% (?:of|von|des|der|du|de la|del|della|van|av) (?:the |dem |den )?(?:total |net |gross |full )?"
    r"(?:contract|order|purchase|offer|quoted?|auftrags\w*|vertrags\w*|kauf\w*|marché|commande|contrato|pedido|contratto|ordine|price|total|preis\w*|prix|precio|prezzo)\b"
)
"""Pattern of a percentage of the price."""
_RISES = pattern(
    r"(?i)\b(?:rises?|rising|increas\w*|indexed|escalat\w*|goes up|grows?|steigt|augmente|sube|aumenta|stijgt|ökar|stiger)\b[^.;%]{0,24}?(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?% "
    r"(?:(?:a|per|each|every|pro|par|por|al|im|om) )?(?:year|annum|jahr|an|año|ano|anno|jaar|år)\b"
)
_YEARS = pattern(
    r"(?i)(?<![\w.,-])(\d{1,2}|two|three|four|five|six|seven|ten) (?:years|jahren?|ans|años|anos|anni|jaar|år)\b"
)
_DUTY = pattern(r"(?i)\b(?:dut(?:y|ies)|customs|zoll\w*|droits? de douane|arancel\w*|dazi?o?|invoerrechten|tull\w*)\b")
_TAX = pattern(rf"(?i)\b(?:import )?(?:{TAX_NAMES}|igst|einfuhrumsatzsteuer)\b")
_SHARE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%")
_DISCOUNT = pattern(
    r"(?i)\b(?:discounts?|less|minus|lowers?|lowered|reduces?|reduced|rabatt\w*|nachlass|abzüglich|remise|descuento|sconto|korting)\b"
)
_RESULT = pattern(
    r"(?i)(?:\b(?:is|are|gives?|makes?|to|leaves?|ist|sind|ergibt|ergeben|auf|est|sont|donne|son|es|è|sono)|=) ?(?:[A-Z]{3} ?|[$€£] ?)?$"
)
"""Pattern of the end of the text before an amount that follows from others."""
_CONDITION = pattern(
    r"(?i)\b(?:above|over|from|beyond|up to|at least|if|when|unless|plus|tax|vat|per cent of|further|another|additional)\b"
)
"""Pattern of words in a clause whose percentages apply only to a part, or that adds something else."""
MOST_TIMES = 2.0
"""Ratio to the expected share of the total up to which an amount is a wrong share of this order, and not a share of
another order.
"""
ROUNDED_PRICE = 0.006
"""Relative difference up to which a rounded price follows from its discount."""
_MEAN = pattern(
    r"(?i)\b(?:mean|average|averages|blended|mittel\w*|durchschnitt\w*|moyenne?|media|promedio|gemiddeld\w*)\b"
)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not any(cue in remarks for cue in CUES):
        return
    for clause in sentences_of(remarks):
        money = [each for each in tokens_of(clause) if each.unit and UNITS[each.unit][1] == MONEY]
        amounts = [each for each in money if has_only_periods(each)]
        found = (
            *_slipped_shares(clause, amounts, procurement),
            *_wrong_discounts(clause, money),
            *_flat_years(clause, amounts),
            *_untaxed_duty(clause, amounts),
            *_plain_mean(clause, [each for each in money if each.per]),
        )
        for message in found:
            yield RULE.problem("description", message, "compute it again, and correct what was derived from it")


def _amount_of(token: Token) -> float:
    return token.values[0] * UNITS[token.unit][0]


def _slipped_shares(clause: str, amounts: Sequence[Token], procurement: ProcurementSpec) -> Iterator[str]:
    """Texts on the only amount in a clause with a percentage of the price, if it is ten times too small or too large,
    or a share of more than the total.
    """
    shares = [float(each.replace(",", ".")) / 100 for each in _OF_PRICE.findall(clause)]
    if len(shares) != 1 or len(amounts) != 1 or amounts[0].unit != procurement.currency or not shares[0]:
        return
    lines = [float(line_price(line) or 0) for line in procurement.quote or ()]
    stated = [procurement.quoted_total, procurement.budget, sum_of(lines), *lines]
    bases = [float(each) for each in stated if each]
    if procurement.quoted_total:
        bases.append(float(procurement.quoted_total) / (1 + (procurement.tax or 0.0)))
    wholes = [_amount_of(amounts[0]) / shares[0] / base for base in bases]
    if any(_is_same(each, 1.0, 0.02) for each in wholes):
        return
    for base, ratio in zip(bases, wholes, strict=True):
        if _is_same(ratio, 10.0) or _is_same(ratio, 0.1):
            yield _share_text(shares[0], base, amounts[0])
            return
    if procurement.quoted_total and 1.02 < min(wholes) < MOST_TIMES:
        yield _share_text(shares[0], float(procurement.quoted_total), amounts[0])


def _share_text(share: float, base: float, stated: Token) -> str:
    right = amount_text(round(share * base, 2))
    return f"{plain(100 * share)} % of {amount_text(base)} are {right}, not {stated.text} {stated.unit}"


def _wrong_discounts(clause: str, money: Sequence[Token]) -> Iterator[str]:
    """Texts on a price that should be the other price in its clause less the only percentage, and is not."""
    shares = list(_SHARE.finditer(clause)) if _DISCOUNT.search(clause) is not None else []
    if len(shares) != 1 or len(money) != 2 or money[0].unit != money[1].unit:
        return
    (full, net), share = money, float(shares[0][1].replace(",", ".")) / 100
    before, listed, left = clause[: net.start], full.values[0], net.values[0]
    if _RESULT.search(before) is None or not 0 < left < listed or _CONDITION.search(clause) is not None:
        return
    right, taken = listed * (1 - share), _is_same(left, listed * share, ROUNDED_PRICE)
    if _is_same(left, right, ROUNDED_PRICE) or (taken and shares[0].start() < full.start and not net.per):
        return  # the discount of 8 % on 400,000 is 32,000
    if 0.5 < left / right < 2 and (full.per == net.per or not (full.per and net.per)):
        yield f"{full.text} {full.unit} less {plain(100 * share)} % are {plain(right, 6)}, not {net.text}"


def _flat_years(clause: str, amounts: Sequence[Token]) -> Iterator[str]:
    """Texts on a sum over years that uses the price of the first year for all years, although the price rises."""
    rates, years = _RISES.findall(clause), {_years_in(each) for each in _YEARS.findall(clause)}
    if len(rates) != 1 or len(years) != 1 or len(amounts) != 2:
        return
    (number,), rate = years, float(rates[0].replace(",", ".")) / 100
    first, whole = sorted(map(_amount_of, amounts))
    if number > 1 and rate and first and _is_same(whole / first, number):
        right = sum_of(first * (1 + rate) ** year for year in range(number))
        yield f"{number} years from {amount_text(first)} at {plain(100 * rate)} % more each year are {amount_text(round(right))}, not {amount_text(whole)}"


def _years_in(written: str) -> int:
    return _NUMBERS.get(written.lower()) or int(written)


def _untaxed_duty(clause: str, amounts: Sequence[Token]) -> Iterator[str]:
    """Texts on a tax computed on the goods without the customs duty on them."""
    rates = [float(each.replace(",", ".")) / 100 for each in _SHARE.findall(clause)]
    if len(rates) != 2 or len(amounts) < 3 or _DUTY.search(clause) is None or _TAX.search(clause) is None:
        return
    duty, tax = rates
    values = [_amount_of(each) for each in amounts]
    goods = max(values)
    paid, taxed = goods * duty, goods * tax
    has_both = any(_is_same(each, paid) for each in values) and any(_is_same(each, taxed) for each in values)
    if has_both and duty > 2 * SAME and not any(_is_same(each, taxed * (1 + duty), SAME / 2) for each in values):
        yield f"the tax is on the price with customs: {plain(100 * tax)} % of {amount_text(goods + paid)} are {amount_text(round((goods + paid) * tax, 2))}, not {amount_text(taxed)}"


def _plain_mean(clause: str, rates: Sequence[Token]) -> Iterator[str]:
    """Texts on a mean of two tariffs that ignores their hours per day."""
    hours = [each.values[0] for each in tokens_of(clause) if each.unit in ("h", "hours", "stunden", "heures", "horas")]
    if (
        len(rates) != 3
        or len(hours) != 2
        or _MEAN.search(clause) is None
        or sum_of(hours) != 24
        or hours[0] == hours[1]
    ):
        return
    one, other, mean = (each.values[-1] for each in rates)
    weighted = [(one * first + other * (24 - first)) / 24 for first in hours]
    if one != other and _is_same(mean, (one + other) / 2) and not any(_is_same(mean, each, 0.01) for each in weighted):
        yield f"the mean of {one:g} for {hours[0]:g} h and {other:g} for {hours[1]:g} h is {plain(weighted[0], 3)}, not {mean:g}"


def _is_same(one: float, other: float, tolerance: float = SAME) -> bool:
    return abs(one / other - 1) <= tolerance
