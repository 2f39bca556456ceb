"""A price differs from the price in the text.

## What it finds

- A line whose text takes percents off a list price (`list 430,000 less 10 %`), and whose unit price is another amount:
  an error;
- a line whose text makes its price a share of a sum (`purchase option, 18 % of the lease sum`), and whose price is
  below that share of the smallest other line: an error;
- a line whose text makes its price, or a rebate, a share of a sum (`freight, 1.5 % of the goods value`), and whose
  amount is up to three times that share of all other lines: an error;
- a line whose text states the sum as well (`support, 10 % per year of 7,240,000`), and whose amount is not that share
  of it: an error;
- a rebate on all items by its text whose amount fits one line alone: an error;
- a line for a rebate, a credit or a trade-in with a positive price, which is added to the others: an error;
- prices that are net of a discount, according to the description, and a `discount` that takes it off again: an error;
- prices that include a tax, according to the description or the text of a line, in a sum to which `tax` adds it again:
  an error;
- the sales tax of Quebec on top of the federal one (1.05 × 1.09975): since 2013 both are taken on the price: an error.

## Why it matters

A rebate with the wrong sign costs twice its amount, and a tax that is added twice a fifth of the price.

## What to do

Ask the supplier for the amount, and correct the price, the tax or the text.

## When to ignore it

Ignore it where the text is about another price than its line's.

## Fires

```yaml procurement.quote[0].unit_price
clusterspec: 1
procurement: {currency: GBP, quote: [{part: "DGX B200, list price 430,000 less 10 % framework discount", quantity: 10, unit_price: 395000}]}
```

```yaml procurement.quote[1].price
clusterspec: 1
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 4, price: 1400000}
    - {part: "Year-end special price reduction", quantity: 1, price: 40000}
```

```yaml procurement.tax
clusterspec: 1
description: All unit prices are gross, including 19 % VAT.
procurement: {currency: EUR, tax: 0.19, quoted_total: 1190000, quote: [{part: "HGX H100 server", quantity: 4, unit_price: 250000}]}
```

```yaml procurement.quote[1].price
clusterspec: 1
procurement:
  currency: EUR
  quote:
    - {part: "Lease of four DGX H200, 36 months", price: 1200000}
    - {part: "Purchase option at the end, 18 % of the lease sum", price: 1}
```

```yaml procurement.quote[1].price
clusterspec: 1
procurement:
  currency: USD
  quote:
    - {part: "DGX B200", quantity: 16, unit_price: 400000, price: 6400000}
    - {part: "Volume discount 8 % on nodes", quantity: 1, price: -640000}
```

```yaml procurement.quote[1].unit_price
clusterspec: 1
procurement:
  currency: USD
  quote:
    - {part: "DGX B200", quantity: 16, unit_price: 400000, price: 6400000}
    - {part: "Support, 10 % per year of 6,400,000 USD", quantity: 3, unit_price: 680000}
```

```yaml procurement.discount
clusterspec: 1
description: All prices already include the discount of 12 %.
cluster: {platform: dgx-b200, nodes: 16}
procurement: {currency: CAD, as_of: 2026-11-18, prices: {node: 520000}, discount: 0.12}
```

## Silent

```yaml
clusterspec: 1
procurement:
  currency: USD
  quote:
    - {part: "DGX B200", quantity: 16, unit_price: 400000, price: 6400000}
    - {part: "Volume discount 8 % on nodes", quantity: 1, price: -512000}
    - {part: "Support, 10 % per year of 6,400,000 USD", quantity: 3, unit_price: 640000}
```

```yaml
clusterspec: 1
description: The budget includes 19 % VAT, and the unit prices do not.
procurement:
  currency: EUR
  tax: 0.19
  quoted_total: 4593400
  quote:
    - {part: "DGX B200, list price 430,000 less 10 %", quantity: 10, unit_price: 387000}
    - {part: "Year-end rebate", quantity: 1, price: -10000}
```

## Sources

- The Quebec sales tax is taken on the price without the federal tax: http://www.revenuquebec.ca/en/entreprise/taxes/tvq_tps/calcul-taxes.aspx
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price, total_of_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.knowledge.purchases import amount_text, money_text, months_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import AMOUNT
from clusterspec.rules.readers.purchases.orders import TAX_NAMES
from clusterspec.rules.readers.written_numbers import amount_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.001
"""Relative difference up to which a rounded price follows from its text."""
_AMOUNT = r"(?<![\d.,])(\d{1,3}(?:[ .,'’]\d{3}){1,3}|\d{3,9})(?:[.,]\d{2})?(?![\d])"
_LIST = r"(?:list(?: price)?|catalogu?e(?: price)?|rrp|msrp|listenpreis|prix (?:catalogue|public|tarif)|precio de (?:lista|tarifa)|preço de (?:lista|tabela)|prezzo di listino|listprijs|listpris\w*)"
_OFF = pattern(
    rf"\b{_LIST}\b[^\d%;]{{0,20}}{_AMOUNT}[^\d%;]{{0,24}}?\b(?:less|minus|off|net of|abzüglich|moins|menos|meno|min)\b[^\d%;]{{0,8}}(?<![\d.,])(\d{{1,2}}(?:[.,]\d{{1,2}})?) ?%"
)
"""Pattern of a list price and the percentage taken off it."""
_CREDIT = pattern(
    r"\b(?:rebates?|credit notes?|credits?|(?:special )?(?:price )?reductions?|discounts?|trade[- ]?ins?|buy-?backs?|gutschrift\w*|\w*nachlass|\w*rabatt|"
    r"remises?|avoir|descuentos?|descontos?|sconti|sconto|korting\w*|rabat|alennus|sleva)\b|値引|割引|折扣|할인"
)
_EXPLAINED = pattern(
    r"\b(?:after|net|less|with|incl\w*|including|included|before|without|no|not|for|on|per|minus|of|nach|inkl\w*|mit|ohne|après|con|com|met|med|efter|hors|avant|already|letter)\b|%|適用|込|後"
)
"""Pattern of words in a line that sells something at a reduced price, and is not a rebate itself."""
_GROSS = pattern(
    rf"\b(?:prices?|preise|einzelpreise|stückpreise|prix|precios|preços|prezzi|prijzen|priser|hinnat|ceny)\b[^.;]{{0,40}}?\b(?:gross|brutto|incl\w*|including|inkl\w*|ttc|toutes taxes|con iva|com iva|ivato|ivati|inclus\w*)\b[^.;]{{0,16}}?(?:\b{TAX_NAMES}\b|%)"
    r"|\b(?:unit prices?|prices?|einzelpreise|stückpreise|preise|priser|prezzi|prijzen|ceny)\b[^.;]{0,20}\b(?:gross|brutto)\b"
    rf"|\b(?:prices?|preise|prix|precios|preços|prezzi|prijzen)\b[^.;]{{0,30}}?\bttc\b"
)
_GROSS_LINE = pattern(
    rf"\b(?:incl\w*|including|inkl\w*|inclus\w*|con|com)\.? (?:of )?(?:\d{{1,2}}(?:[.,]\d{{1,2}})? ?% )?{TAX_NAMES}\b|\bttc\b"
)
"""Pattern of words in a line whose price includes a tax."""
_OF_OTHER = pattern(
    r"\b(?:totals?|sum|budget|gesamt\w*|summe|net|netto|excl\w*|exclud\w*|without|zzgl|plus|ohne|hors|ht|sin|sem|senza|zonder|"
    r"not|nicht|pas|no|non|quoted_total|list)\b"
)
"""Pattern of words in a sentence about a total, or about prices without a tax."""
_QUEBEC = pattern(r"\b(?:tvq|qst)\b")
_COMPOUND = 1.05 * 1.09975 - 1
_SEPARATE = 0.05 + 0.09975


def check(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    if procurement.discount and texts.description:
        yield from _discounted_twice(procurement.discount, texts.description)
    if not procurement.quote:
        return
    yield from _list_price_problems(procurement, texts.lines)
    yield from _share_problem(procurement, texts.lines)
    yield from _large_share_problems(procurement, texts.lines)
    yield from _partial_rebate_problem(procurement, texts.lines)
    yield from _credit_problem(procurement)
    yield from _step_problems(procurement, texts.sentences)
    if procurement.tax:
        yield from _gross_problem(procurement, procurement.tax, texts)


def _discounted_twice(discount: float, text: str) -> Iterator[Problem]:
    """The problem of a discount that is taken off prices which are net of it according to the text."""
    from clusterspec.rules.readers.purchases.net_prices import words_of_net_prices  # few designs have a discount

    words = words_of_net_prices(text, discount)
    if words:
        message = f"the text says `{words}`, but `discount` takes {percent(discount)} off these prices once more"
        yield RULE.problem("procurement.discount", message, "remove the discount, or state the prices before it")


def _list_price_problems(procurement: ProcurementSpec, texts: Sequence[str]) -> Iterator[Problem]:
    """Problems of lines whose unit price is not the list price in their text less the stated percentage."""
    for index, (line, text) in enumerate(zip(procurement.quote or (), texts, strict=True)):
        found, price = _OFF.findall(text), line.unit_price
        if len(found) != 1 or not price:
            continue
        (amount, share), stated = found[0], float(price)
        listed = amount_in_text(amount)
        expected = listed * (1 - float(share.replace(",", ".")) / 100)
        if stated in map(amount_in_text, AMOUNT.findall(line.part or "")):
            continue  # the text takes off more than these percents
        if not any(isclose(stated, each, rel_tol=ROUNDED) for each in (expected, listed)):
            message = f"`{name_of_part(line.part)}` takes {share} % off {listed:,.0f}, which leaves {money_text(amount_text(expected), procurement.currency)}, but the price is {money_text(amount_text(stated), procurement.currency)}"
            at = quote_path(index, "unit_price")
            yield RULE.problem(at, message, "ask the supplier which of the two is right")


_SHARE_OF_SUM = pattern(
    r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?% (?:of|vom|der|du|de la|del|della|van|av) (?:the )?(?:[a-z]{2,12} )?(?:sum|price|prices|value|total|amount|cost|rent|lease|hardware|equipment|goods)\b"
)
"""Pattern of a price that is a percentage of a sum."""


def _share_problem(procurement: ProcurementSpec, texts: Sequence[str]) -> Iterator[Problem]:
    """The problem of a line whose price is below its percentage even of the smallest other line."""
    prices = [float(line_price(line) or 0) for line in procurement.quote or ()]
    for index, text in enumerate(texts):
        found, others = _SHARE_OF_SUM.search(text), [*prices[:index], *prices[index + 1 :]]
        least = min((each for each in others if each > 0), default=0.0)
        share = float(found[1].replace(",", ".")) / 100 if found is not None else 0.0
        if found is not None and 0 < prices[index] < share * least * (1 - ROUNDED):
            due = money_text(amount_text(share * least), procurement.currency)
            own = money_text(amount_text(prices[index]), procurement.currency)
            message = f"`{name_of_part((procurement.quote or ())[index].part)}` has a price of {own}, but {found[1]} % of the smallest other line alone are {due}"
            at = quote_path(index, "price")
            yield RULE.problem(at, message, "ask for the amount, and add it to the total")


_SHARE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%")
_OF_AMOUNT = pattern(
    rf"% (?:(?:a|per|each|pro|par|por|al|im) (?:year|annum|month|jahr|an|año|ano|anno) )?(?:of|on|von|auf|de|sur|sobre|di|su|van|op|av|på) (?:usd |eur |gbp |chf |[$€£] ?)?{_AMOUNT}"
)
"""Pattern of the amount that a percentage applies to."""
_OF_LISTED = pattern(rf"\b(?:{_LIST}|taxe?s?|{TAX_NAMES}|quantity|installed|spares?)\b")
"""Pattern of words in a line whose percentage applies to prices that are not in the quote, or to a number of parts."""
_HARDWARE = pattern(r"\b(?:hardware|equipment|goods|nodes?|servers?)\b")
"""Pattern of words for a sum that cannot include the line itself."""
MOST_TIMES = 3.0
"""Smallest ratio to the expected share of all other lines at which the sum may belong to another order."""


def _large_share_problems(procurement: ProcurementSpec, texts: Sequence[str]) -> Iterator[Problem]:
    """Problems of lines that state a percentage, if the amount exceeds that share of all other lines, or is not that
    share of the amount in their text.
    """
    lines = procurement.quote or ()
    prices, currency = [float(line_price(line) or 0) for line in lines], procurement.currency
    for index, (line, text) in enumerate(zip(lines, texts, strict=True)):
        shares = _SHARE.findall(text) if prices[index] else []
        if len(shares) != 1 or _OF_LISTED.search(text) is not None:
            continue
        share, stated = float(shares[0].replace(",", ".")) / 100, _OF_AMOUNT.findall(text)
        own = {abs(float(each)): key for key, each in (("price", line.price), ("unit_price", line.unit_price)) if each}
        whole = sum_of(each for each in (*prices[:index], *prices[index + 1 :]) if each > 0)
        if _HARDWARE.search(text) is None:
            whole = max(whole, float(procurement.quoted_total or 0))
        whole *= 1 + (procurement.tax or 0)
        if len(stated) == 1 and share:
            due = share * amount_in_text(stated[0])
            wrong = not any(isclose(each / due, round(each / due) or 1, rel_tol=ROUNDED) for each in own)
            base = f"{amount_in_text(stated[0]):,.0f}"
        elif _SHARE_OF_SUM.search(text) is not None or (prices[index] < 0 and _CREDIT.search(text) is not None):
            due = share * whole
            wrong = bool(due) and due * (1 + STEP_ROUNDED) < min(own) < MOST_TIMES * due
            base = "all other lines together"
        else:
            continue
        if wrong:
            amount = min(own)
            message = f"`{name_of_part(line.part)}` has {money_text(amount_text(amount), currency)}, but {shares[0]} % of {base} are {money_text(amount_text(due), currency)}"
            yield RULE.problem(quote_path(index, own[amount]), message, "ask the supplier which of the two is right")


_REBATE_ON_ALL = pattern(
    r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%[^.;%]{0,24}?\b(?:all|every|alle|tous|todos|tutti) (?:items?|lines?|positions?|positionen|articles?|partidas|posten)\b"
)


def _partial_rebate_problem(procurement: ProcurementSpec, texts: Sequence[str]) -> Iterator[Problem]:
    """The problem of a rebate on all lines whose amount is the percentage of a single line."""
    prices = [float(line_price(line) or 0) for line in procurement.quote or ()]
    for index, text in enumerate(texts):
        found = _REBATE_ON_ALL.search(text) if prices[index] < 0 else None
        share = float(found[1].replace(",", ".")) / 100 if found is not None else 0.0
        of_line = any(isclose(-prices[index], share * each, rel_tol=ROUNDED) for each in prices if each > 0)
        whole = share * sum_of(each for each in prices if each > 0)
        if found is not None and of_line and -prices[index] < whole * (1 - ROUNDED):
            currency = procurement.currency
            message = f"`{name_of_part((procurement.quote or ())[index].part)}` takes off {money_text(amount_text(-prices[index]), currency)}, {found[1]} % of one line, but {found[1]} % of all lines are {money_text(amount_text(whole), currency)}"
            at = quote_path(index, "price")
            yield RULE.problem(at, message, "ask for the rebate on all lines, or correct the text")


_STEPS = pattern(
    r"\b(?:rises?|increases?|indexed|goes up|raised|steps up|steigt|augmente|sube|aumenta|stijgt|ökar|stiger)\b[^.;%]{0,24}?(\d{1,2}(?:[.,]\d{1,2})?) ?% (?:in|from|as of|with|at|im|ab|en|à partir du|nel|no|in de) months? (\d{1,3})(?:(?:,| and|,? und|,? et|,? y|,? e|,? en|,? och|,? og) (?:month )?(\d{1,3}))?(?:(?:,| and|,? und|,? et|,? y|,? e|,? en|,? och|,? og) (?:month )?(\d{1,3}))?"
)
"""Pattern of the percentage by which a price rises, and of the months in which it rises."""
STEP_ROUNDED = 0.002
"""Relative difference up to which a risen price follows from its text; each step is rounded to cents."""


def _step_problems(procurement: ProcurementSpec, sentences: Sequence[str]) -> Iterator[Problem]:
    """The problem of lines for parts of one contract period whose prices rise by other steps than the text states."""
    steps = [found for each in sentences if (found := _STEPS.search(each)) is not None]
    if len(steps) != 1:
        return
    rate = 1 + float(steps[0][1].replace(",", ".")) / 100
    rises = [int(month) for month in steps[0].groups()[1:] if month]
    of_thing: dict[str, list[tuple[int, int, float]]] = {}
    for index, line in enumerate(procurement.quote or ()):
        text = plain_part(line)
        months = months_in(text)
        if months and line.unit_price and (months[0][0] < min(rises) or months[0][0] in rises):
            of_thing.setdefault(text.partition("month")[0], []).append((months[0][0], index, float(line.unit_price)))
    spans = next((sorted(found) for found in of_thing.values() if len(found) == len(rises) + 1), [])
    if not spans or spans[0][0] >= min(rises):
        return
    base = spans[0][2]
    for start, index, price in spans:
        expected = base * rate ** sum(month <= start for month in rises)
        if not isclose(price, expected, rel_tol=STEP_ROUNDED):
            currency = procurement.currency
            message = f"from month {start} the price is {money_text(amount_text(expected), currency)} according to the text, but the line has {money_text(amount_text(price), currency)}"
            yield RULE.problem(quote_path(index, "unit_price"), message, "ask the supplier which of the two is right")
            return


def _credit_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a rebate or credit whose price is added to the others."""
    for index, line in enumerate(procurement.quote or ()):
        text, price = plain_part(line), line_price(line)
        if price and price > 0 and _CREDIT.search(text) is not None and _EXPLAINED.search(text) is None:
            message = f"`{name_of_part(line.part)}` is a rebate or credit, but its price of {money_text(amount_text(float(price)), procurement.currency)} is added to the others"
            at = quote_path(index, "price" if line.price is not None else "unit_price")
            yield RULE.problem(at, message, "write a negative amount, in the line and in the total")


def _gross_problem(procurement: ProcurementSpec, tax: float, texts: PurchaseTexts) -> Iterator[Problem]:
    """Problems of a tax that is added to prices which include it according to the text as written, and of a tax on a
    tax.
    """
    total, expected = procurement.quoted_total, total_of_lines(procurement)
    taxed = total is not None and expected is not None and isclose(total, expected, rel_tol=ROUNDED)
    gross = [
        each
        for each in sentences_of(texts.remarks.lower())
        if _GROSS.search(each) is not None and _OF_OTHER.search(each) is None
    ]
    if gross and taxed:
        message = f"according to the text, the prices include the tax, but `tax: {tax:g}` is added to them in the total"
        yield RULE.problem("procurement.tax", message, "remove `tax`, or ask for prices without it")
    for index, line in enumerate(procurement.quote or ()):
        if taxed and _GROSS_LINE.search((line.part or "").lower()) is not None and line_price(line):
            message = f"the price of `{name_of_part(line.part)}` includes the tax, but `tax: {tax:g}` is added to it in the total"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "ask for the price without it")
            break
    named = " ".join([texts.remarks.lower(), *texts.lines])
    if _QUEBEC.search(named) is not None and isclose(tax, _COMPOUND, rel_tol=ROUNDED):
        message = f"a tax of {percent(tax, 5)} adds the tax of Quebec (TVQ) to the price with TPS: both are on the price without tax, {percent(_SEPARATE, 5)} together"
        yield RULE.problem("procurement.tax", message, f"write `tax: {_SEPARATE:g}`, and ask for the right total")
