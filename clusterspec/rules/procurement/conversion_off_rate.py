"""An amount is not converted at the exchange rate that the text states.

## What it finds

- a line whose text has an amount in another currency, and whose price is that amount unconverted, multiplied by the
  rate of the description instead of divided, or the reverse;
- one line that uses another rate than all the others, which convert at one rate;
- two amounts of one sentence with the rate, or of the sentence with the rate and the one before it, if one is the other
  multiplied instead of divided;
- a quote, price or total that the sentence with the rate converts, if the text has one amount in the other currency near it and
  another result follows from that amount.

Rates are read as `1 EUR = 1.17 USD`, `1.17 USD per EUR`, `USD 1.17 for one euro`, `$1.17/€` and `EUR/USD 1.17`. Rebates that the text states, and
equal surcharges of all lines, are accepted.

## Why it matters

A rate of 1.17 in the wrong direction is 37 % of the price. The sums of the quote close all the same.

## What to do

Convert the amount with the rate as written: divide an amount in dollars by the dollars for one euro.

## When to ignore it

Ignore it where the line is priced in its own currency, and the other amount is a former list price.

## Fires

```yaml procurement.quote[0].unit_price
clusterspec: 1
description: The contract fixes 1.17 USD per EUR for this order.
cluster: {platform: dgx-h200, nodes: 12}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200, list USD 388,000", quantity: 12, unit_price: 453960, price: 5447520}
    - {part: "QM9700 switch, list USD 35,100", quantity: 5, unit_price: 30000, price: 150000}
```

```yaml procurement.quote[2].unit_price
clusterspec: 1
description: All lines are converted from US dollars.
cluster: {platform: dgx-h200, nodes: 12}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200, USD 351,000", quantity: 12, unit_price: 300000, price: 3600000}
    - {part: "QM9700 switch, USD 35,100", quantity: 5, unit_price: 30000, price: 150000}
    - {part: "Optical module, USD 1,170", quantity: 192, unit_price: 1125, price: 216000}
```

```yaml description
clusterspec: 1
description: >
  The rate is 0.92 EUR per USD: 400,000 USD are 386,000 EUR.
cluster: {platform: dgx-b200, nodes: 4}
procurement: {currency: USD}
```

```yaml description
clusterspec: 1
description: The vendor invoices CHF 6,180,000 for everything. At EUR 1.06 for one franc that is EUR 5,830,000.
cluster: {platform: dgx-b200, nodes: 12}
procurement: {term: 4 years}
```

```yaml description
clusterspec: 1
description: >
  The supplier quotes in dollars: twelve lines, USD 4,207,000 after the academic credit. The grant is paid in euro: EUR 3.5 million.
  At USD 1.10 per euro the quote is EUR 3.19 million, so that EUR 310,000 of the grant remain.
cluster: {platform: dgx-h200, nodes: 12}
procurement: {currency: USD, budget: 4300000}
```

## Silent

```yaml
clusterspec: 1
description: The contract fixes 1.17 USD per EUR for this order, so USD 1,170,000 are EUR 1,000,000.
cluster: {platform: dgx-h200, nodes: 12}
procurement:
  currency: EUR
  quote:
    - {part: "DGX H200, list USD 388,000", quantity: 12, unit_price: 331623.93, price: 3979487.16}
    - {part: "QM9700 switch, list USD 35,100 less 10 %", quantity: 5, unit_price: 27000, price: 135000}
```

## Sources

- Direct and indirect quotation of exchange rates: https://www.investopedia.com/terms/i/indirectquote.asp
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import amount_of_quote, line_price
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import amount_text, money_text
from clusterspec.rules.readers.exchange_rates import StatedRate, stated_rate, stated_rates
from clusterspec.rules.readers.tokens import Token, tokens_of
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import median, pattern

RULE = Rule.of(__name__, "error", "likely")
SAME = 0.005
"""Relative difference up to which a rounded amount follows from a conversion."""
OTHER = 0.01
"""Smallest relative difference between the rate of one line and the usual rate that is an error; smaller ones come from
different days.
"""
ROUNDED = 0.02
"""Relative difference up to which an amount in millions follows from a conversion."""
LEAST_FACTOR = 1.02
"""Smallest factor between the wrongly and the rightly converted amount that rounding cannot explain."""
_EXPLAINED = pattern(
    r"(?i)%|\b(?:rebate|discount|after|less|net|incl\w*|plus|surcharge|fee|rabatt|nachlass|abzüglich|remise|descuento|desconto|sconto|korting)\b"
)
"""Pattern of words in a line whose price is not only its converted amount."""


_EQUALS = pattern(
    r"(?i)^[^\d]{0,8}(?:\b(?:is|are|costs?|gives?|makes?|equals?|ist|sind|kosten|kostet|sont|est|son|es|sono|è)\b|=)[^\d]{0,8}$"
)
"""Pattern of the words between an amount and its equivalent in another currency."""

_CONVERTED = pattern(
    r"(?i)\b(?:quote|offer|bid|price|contract|invoice|order|total|sum|purchase|angebot|preis|summe|auftrag|vertrag|offre|prix|devis|"
    r"contrat|oferta|precio|presupuesto|contrato|offerta|prezzo|preventivo|contratto|preço|proposta|offerte|prijs)\b[^\d.;,()]{0,24}?"
    r"\b(?:is|are|comes? to|costs?|makes?|equals?|ist|sind|beträgt|kostet|est de|est|sont|revient à|es de|es|son|è di|è|é de|é|bedraagt)"
    r"(?: about| roughly| rund| environ| unos| circa)? (?:[a-z]{3} ?|[€$£])?$"
)
"""Pattern of the words before a price that is converted as a whole."""


class _ConvertedLine(NamedTuple):
    """A quote line with an amount in a foreign currency: its index, the amount, the currency, and the nearest price of
    the line.
    """

    number: int
    amount: float
    code: str
    price: float
    explained: bool

    @property
    def units(self) -> float:
        """Units of the foreign currency for one unit of the quote's currency."""
        return self.amount / self.price


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    own = procurement.currency
    if not (remarks or (own is not None and procurement.quote)):
        return
    rates = stated_rates(remarks)
    for currency in [own] if own is not None else sorted({each.other for each in rates}):
        rates_of_currency = [each for each in rates if currency in (each.one, each.other)]
        codes = {each.other if each.one == currency else each.one for each in rates_of_currency}
        for code in sorted(codes):
            of_code = [each for each in rates_of_currency if code in (each.one, each.other)]
            units = {round(_foreign_units(each, currency), 9) for each in of_code}
            if len(units) == 1:
                problems = list(_sentence_problems(remarks, of_code[0], currency, code))
                yield from problems or _price_problems(remarks, of_code[0], procurement)
        if own is not None:
            converted = list(_converted_lines(procurement.quote or (), own))
            yield from _line_problems(converted, rates_of_currency, procurement, own)


def _foreign_units(rate: StatedRate, currency: str) -> float:
    """Units of the rate's foreign currency for one unit of the quote's currency."""
    return rate.units if rate.one == currency else 1 / rate.units


def _converted_lines(lines: Sequence[QuoteLine], currency: str) -> Iterator[_ConvertedLine]:
    """The lines whose text has one amount in another currency and no exchange rate."""
    for index, line in enumerate(lines):
        text, price = line.part or "", line_price(line)
        amounts = [each for each in tokens_of(text) if len(each.unit) == 3 and each.unit.isupper() and not each.per]
        foreign = {(each.values[0], each.unit) for each in amounts if each.unit != currency}
        if len(foreign) != 1 or len(foreign) != len(amounts) or stated_rate(text) is not None or not price:
            continue
        amount, code = foreign.pop()
        prices = [float(each) for each in (line.unit_price, price) if each and each > 0]
        if amount > 0 and prices:
            nearest = min(prices, key=lambda each: max(each / amount, amount / each))
            yield _ConvertedLine(index, amount, code, nearest, _EXPLAINED.search(text) is not None)


def _line_problems(
    converted: Sequence[_ConvertedLine], rates: Sequence[StatedRate], procurement: ProcurementSpec, currency: str
) -> Iterator[Problem]:
    for code in sorted({each.code for each in converted}):
        lines = [each for each in converted if each.code == code]
        stated = {round(_foreign_units(each, currency), 9) for each in rates if code in (each.one, each.other)}
        usual = median(each.units for each in lines) if len(lines) > 2 else 0.0
        agreeing = [each for each in lines if usual and abs(each.units / usual - 1) < SAME]
        usual_rate = usual if len(agreeing) > len(lines) / 2 else 0.0
        for line in lines:
            if len(stated) == 1:
                (units,) = stated
                wrong = _is_inverted(line.units, units) or (
                    _is_same(line.units, 1.0) and not _is_same(units, 1.0, 0.03)
                )
                yield from [_line_problem(line, units, procurement, currency)] if wrong else []
            elif (
                not stated
                and usual_rate
                and line not in agreeing
                and not line.explained
                and _is_off_usual_rate(line, usual_rate)
            ):
                yield _line_problem(line, usual_rate, procurement, currency, len(agreeing))


def _is_off_usual_rate(line: _ConvertedLine, usual_rate: float) -> bool:
    return abs(line.units / usual_rate - 1) > OTHER


def _is_inverted(found: float, units: float) -> bool:
    """Whether a rate is the inverse of another rate, and both differ clearly."""
    return max(units, 1 / units) > LEAST_FACTOR and _is_same(found * units, 1.0) and not _is_same(found, units)


def _is_same(one: float, other: float, tolerance: float = SAME) -> bool:
    return abs(one / other - 1) <= tolerance


def _line_problem(
    line: _ConvertedLine, units: float, procurement: ProcurementSpec, currency: str, others: int = 0
) -> Problem:
    part = (procurement.quote or ())[line.number].part
    right, own = (money_text(amount_text(round(each, 2)), currency) for each in (line.amount / units, line.price))
    source = f"the rate of the {others} other lines" if others else "the rate of the text"
    message = (
        f"`{name_of_part(part)}` converts {line.amount:,.0f} {line.code} to {own}; at {source}, {units:.4g} {line.code} for one "
        f"{currency}, it is {right}"
    )
    at = quote_path(line.number, "unit_price")
    return RULE.problem(at, message, "convert the amount again, and correct the total")


def _sentence_problems(remarks: str, rate: StatedRate, currency: str, code: str) -> Iterator[Problem]:
    """Problems of sentences with one amount in each currency, if one is converted in the wrong direction or with
    another rate. The sentence of the rate may follow the one with the converted amount.
    """
    units = _foreign_units(rate, currency)
    sentences = sentences_of(remarks)
    pairs_of_sentences = (f"{one}. {other}" for one, other in pairwise(sentences) if rate.text in other)
    for sentence in (*sentences, *pairs_of_sentences):
        tokens = tokens_of(sentence)
        own, foreign = _amounts(tokens, currency), _amounts(tokens, code)
        pairs = [(one, other) for one in own for other in foreign]
        if any(_is_same(other / one, units, 0.02) for one, other in pairs) or len(pairs) != 1:
            continue
        ((one, other),) = pairs
        if _is_inverted(other / one, units):
            right = money_text(amount_text(round(other / units, 2)), currency)
            message = f"{other:,.0f} {code} at `{rate.text}` are {right}, not {one:,.0f} {currency}"
            yield RULE.problem("description", message, "convert the amount again")
        elif (
            rate.text in sentence and _EXPLAINED.search(sentence) is None and _is_within_factor_two(other / one, units)
        ):
            given = [each for each in tokens if not each.per and each.values and each.values[0] in (one, other)]
            if len(given) != 2 or _EQUALS.search(sentence[given[0].end : given[1].start]) is None:
                continue
            of_own = given[0].unit == currency
            right = f"{one * units:,.0f} {code}" if of_own else f"{other / units:,.0f} {currency}"
            shown = [f"{each.values[0]:,.0f} {each.unit}" for each in given]
            message = f"{shown[0]} at `{rate.text}` are {right}, not {shown[1]}"
            yield RULE.problem("description", message, "convert the amount again")


def _price_problems(remarks: str, rate: StatedRate, procurement: ProcurementSpec) -> Iterator[Problem]:
    """Problems of prices in sentences with the rate, each converted from the only amount near its value in the other currency, of
    the text or the quote.
    """
    tokens = tokens_of(remarks)
    for sentence in sentences_of(remarks):
        if rate.text not in sentence or _EXPLAINED.search(sentence) is not None:
            continue
        for token in tokens_of(sentence):
            if token.unit not in (rate.one, rate.other) or _CONVERTED.search(sentence[: token.start]) is None:
                continue
            code = rate.other if token.unit == rate.one else rate.one
            units, price = _foreign_units(rate, token.unit), token.values[0]
            quoted = amount_of_quote(procurement) if procurement.currency == code else None
            amounts = _amounts(tokens, code) | ({quoted} if quoted else set())
            near = [each for each in amounts if _is_within_factor_two(each / price, units)]
            if len(near) == 1 and not _is_same(near[0] / price, units, ROUNDED):
                right = money_text(amount_text(round(near[0] / units)), token.unit)
                message = f"{near[0]:,.0f} {code} at `{rate.text}` are {right}, not {price:,.0f} {token.unit}"
                yield RULE.problem("description", message, "convert the amount again, and correct what follows from it")


def _is_within_factor_two(found: float, units: float) -> bool:
    """Whether a rate is within a factor of two of another rate, so that neither the direction nor the unit is wrong."""
    return 0.5 < found / units < 2


def _amounts(tokens: Sequence[Token], code: str) -> set[float]:
    """The amounts of money in a sentence in one currency, without prices per unit."""
    return {each.values[0] for each in tokens if each.unit == code and not each.per and each.values[0] >= 100}
