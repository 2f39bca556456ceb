"""The arithmetic of a quote is wrong.

## What it finds

- a line whose quantity × unit price is not its price;
- lines whose sum, less `discount` and with `tax`, differs from `quoted_total` by more than a cent or one part in a
  million;
- a line that repeats the part, quantity and unit price of an earlier line;
- a line with the tax on all others, which `tax` adds again;
- a line whose text converts an amount (`USD 430,000 at 1 EUR = 1.16 USD`) to something other than its price, names
  another currency without a rate, or raises the price every year while its sum does not;
- a trade-in that is credited and also taken off the price of another line;
- a rebate that is a tenth of, or ten times, its stated percentage;
- an option in the total that the description leaves out of the order.

## Why it matters

Such errors are the most common defect of quotes, and are often found only after the order.

## What to do

Ask the supplier which of the figures is right.

## When to ignore it

Do not ignore it. State a discount on the total as `discount`, and a tax in it as `tax`.

## Fires

```yaml procurement.quote[0].price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19480000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19840000}
    - {part: leaf switch, quantity: 16, unit_price: 36000, price: 576000}
  quoted_total: 20461000
```

```yaml procurement.quote[1].price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement:
  currency: EUR
  as_of: 2026-11-01
  quote:
    - {part: DGX H100, quantity: 4, unit_price: 280000}
    - {part: "storage, USD 430,000 at 1 EUR = 1.16 USD", quantity: 1, price: 498800}
```

```yaml procurement.quote[1].price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement:
  currency: EUR
  as_of: 2026-11-01
  tax: 0.19
  quote:
    - {part: DGX H100, quantity: 4, unit_price: 280000, price: 1120000}
    - {part: "VAT 19 %", quantity: 1, price: 212800}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: node, quantity: 64, unit_price: 310000, price: 19840000}
    - {part: leaf switch, quantity: 16, unit_price: 36000, price: 576000}
  quoted_total: 20416000
```

## Sources

- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose, log

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import line_price, terms_text, total_of_lines
from clusterspec.procurement.part_names import names_option, plain_part
from clusterspec.quantity import YEAR
from clusterspec.rules.knowledge.purchases import amount_text, money_text
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.exchange_rates import amounts_in, stated_rate
from clusterspec.rules.readers.purchases.orders import TAX_NAMES
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import pattern, sum_of

RULE = Rule.of(__name__, "error")
MOST_LINES = 40
"""Largest number of quote lines for which a rebate is compared with every sum of adjacent lines."""
ROUNDED = 0.02
"""Relative difference up to which a converted amount is right, with rounding or a fee."""


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines, currency = procurement.quote, procurement.currency
    for number, line in enumerate(lines):
        if line.quantity is not None and line.unit_price is not None and line.price is not None:
            product = line.quantity * line.unit_price
        else:
            product = line.price or 0
        if line.price is not None and not _is_same_sum(product, line.price):
            message = f"{line.quantity:,} × {line.unit_price:,} is {money_text(amount_text(product), currency)}, not {money_text(f'{line.price:,}', currency)}"
            yield RULE.problem(quote_path(number, "price"), message, "ask the supplier which of the three is right")
        yield from _conversion_problem(number, line, currency)
        yield from _inverse_rate_problem(number, line)
    yield from _foreign_line_problem(procurement)
    yield from _trade_in_problem(procurement)
    yield from _rebate_problem(procurement)
    yield from _escalation_problem(procurement)
    yield from _repeated_line_problems(procurement)
    yield from _tax_problems(procurement)
    expected, total = total_of_lines(procurement), procurement.quoted_total
    if expected is None or total is None or any(line_price(line) is None for line in lines):
        return
    if not _is_same_sum(expected, total):
        off = total - expected
        message = f"the lines sum to {money_text(amount_text(expected), currency)}{terms_text(procurement)}, not {money_text(f'{total:,}', currency)}: {money_text(amount_text(abs(off)), currency)} {'too much' if off > 0 else 'too little'}"
        yield RULE.problem("procurement.quoted_total", message, "ask the supplier which line is missing or wrong")
    else:
        yield from _option_problem(procurement, remarks.lower())


_LEFT_OUT = pattern(
    r"\b(?:not|nicht|pas|non|no|niet|inte|ikke|ei)\b[^.;]{0,60}?\b(?:includ\w*|part of|in the (?:order|total|price|sum)|order\w*|enthalten|auftrag\w*|"
    r"bestell\w*|inclus\w*|compris\w*|inclu[ií]d\w*|compres\w*|inbegrepen|ingår|inkluder\w*|sisälly\w*)\b"
)
"""Pattern of words by which a sentence about an option excludes it from the order."""
_CHOSEN = pattern(r"(?<!to be )\b(?:exercised|chosen|selected|called off|taken|gezogen|ausgeübt|levée?|ejercida)\b")


def _option_problem(procurement: ProcurementSpec, text: str) -> Iterator[Problem]:
    """The problem of an option in the total that the text excludes from the order."""
    about = [each for each in sentences_of(text) if names_option(each) and _LEFT_OUT.search(each) is not None]
    whole = _sum_of_lines(procurement)
    for number, line in enumerate(procurement.quote or ()):
        part, price = plain_part(line), line_price(line)
        left_out = bool(about) or _LEFT_OUT.search(part) is not None
        if left_out and price and 0 < price < whole and names_option(part) and _CHOSEN.search(part) is None:
            total = (total_of_lines(procurement) or 0.0) * (1 - float(price) / whole)
            message = f"`{name_of_part(line.part)}` is an option that the text leaves out of the order, but `quoted_total` includes it: {money_text(amount_text(total), procurement.currency)} without it"
            at = quote_path(number, "part")
            yield RULE.problem(at, message, "ask the supplier for the total of the order", confidence="likely")
            return


def _sum_of_lines(procurement: ProcurementSpec) -> float:
    """The sum of the prices of all lines, before discount and tax."""
    return sum_of(float(line_price(line) or 0) for line in procurement.quote or ())


_TAX = pattern(
    rf"(?i)^\W{{0,20}}(?:[\w.-]{{1,40}}\W{{1,20}})?(?:{TAX_NAMES}|hst|pst|qst|icms|tax|ust|消費税|増値税|增值税|부가세|부가가치세)(?![\w])"
)
"""Pattern of a line that begins with the name of a tax, after a line number or a word for a sum."""


def _tax_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """Problems of a quote line that is the tax on the other lines, although `tax` of the spec already adds it."""
    lines, tax = procurement.quote or (), procurement.tax
    for number, line in enumerate(lines):
        price = line_price(line)
        if not tax or not price or price < 0 or _TAX.search(plain_part(line)) is None:
            continue
        others = _sum_of_lines(procurement) - float(price)
        if abs(float(price) - tax * others) <= ROUNDED * float(price):
            message = f"`{name_of_part(line.part)}` is the tax on the other lines, but `tax: {tax:g}` adds it again"
            at = quote_path(number, "price" if line.price is not None else "unit_price")
            yield RULE.problem(at, message, "remove the line, or the key")


LEAST_OFF = 0.15
"""Smallest natural logarithm of the ratio of two exchange rates that normal changes of rates cannot explain."""


def _inverse_rate_problem(number: int, line: QuoteLine) -> Iterator[Problem]:
    """The problem of an exchange rate whose inverse is nearer to the usual rate of the two currencies."""
    rate = stated_rate(line.part or "")
    if rate is None or not {rate.one, rate.other} <= UNITS_PER_DOLLAR.keys():
        return
    usual = UNITS_PER_DOLLAR[rate.other] / UNITS_PER_DOLLAR[rate.one]
    off, inverse_off = abs(log(rate.units / usual)), abs(log(rate.units * usual))
    if off > 2 * inverse_off and off > LEAST_OFF:
        message = f"the rate `{rate.text}` is inverted: about {usual:.3g} {rate.other} are one {rate.one}"
        at = quote_path(number, "part")
        yield RULE.problem(
            at, message, "ask the supplier for the rate, and for the amount that it gives", confidence="likely"
        )


def _conversion_problem(number: int, line: QuoteLine, currency: str | None) -> Iterator[Problem]:
    """The problem of a line whose price does not follow from the exchange rate and the amount in its text."""
    rate, price = stated_rate(line.part or ""), line_price(line)
    if rate is None or price is None or currency not in {rate.one, rate.other}:
        return
    other = rate.other if currency == rate.one else rate.one
    amounts = amounts_in((line.part or "").replace(rate.text, ""), other)
    if len(amounts) != 1:
        return
    (amount,) = amounts
    expected = amount / rate.units if currency == rate.one else amount * rate.units
    if abs(expected - float(price)) > ROUNDED * expected:
        message = f"{amount:,.0f} {other} at {rate.text} are {money_text(f'{expected:,.0f}', currency)}, not {money_text(f'{float(price):,.0f}', currency)}"
        at = quote_path(number, "price" if line.price is not None else "unit_price")
        yield RULE.problem(at, message, "ask the supplier for the conversion", confidence="likely")


_SIGNS = {"us$": "USD", "r$": "BRL", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD", "s$": "SGD", "hk$": "HKD"}
_SIGNS |= {"€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "zł": "PLN"}
_NAMES = {"us dollar": "USD", "australian dollar": "AUD", "canadian dollar": "CAD", "singapore dollar": "SGD"}
_NAMES |= {
    "dollars us": "USD",
    "dollars américains": "USD",
    "dólares estadounidenses": "USD",
    "euro": "EUR",
    "yen": "JPY",
}
_NAMES |= {"pounds sterling": "GBP", "swiss franc": "CHF", "renminbi": "CNY", "yuan": "CNY"}
_CURRENCY_OF_LINE = pattern(
    r"(?i)(?:\b(?:in|em|en|w|priced|payable|billed|invoiced)\s+(?:in\s+)?|\b(?:unit )?(?:price|preis|prix|precio|prezzo|cena|prijs|pris)s?:? |"
    r"(?:단가|単価|单价|單價)[: ]{0,2}|\()((?:us|r|au?|ca?|s|hk)\$|[€£₹₩]|zł\b|(?-i:[A-Z]{3})\b|"
    rf"(?:{'|'.join(_NAMES)})(?=s?\b))(?! ?\d)"
)
"""Pattern of the currency of the price in the text of a line."""
_AMOUNT_OF_LINE = pattern(r"\b([A-Z]{3}) ?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{3,}(?:\.\d+)?)(?!\d)")
"""Pattern of an amount after its currency code."""


_TRADE_IN = pattern(r"(?i)\btrade[- ]?ins?\b|\binzahlungnahme\b|\breprise\b")
_DEDUCTED = pattern(r"(?i)\b(?:less|minus|net of|after|deduct\w*|included?|incl)\b")


def _trade_in_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a trade-in that is a credit although a line's price already includes it."""
    lines = [(index, line) for index, line in enumerate(procurement.quote or ()) if _TRADE_IN.search(line.part or "")]
    credited = [index for index, line in lines if min(line.price or 0, line.unit_price or 0) < 0]
    within = [
        line
        for index, line in lines
        if index not in credited and (line_price(line) or 0) > 0 and _DEDUCTED.search(line.part or "") is not None
    ]
    if credited and within:
        message = f"the trade-in is a credit, but `{name_of_part(within[0].part)}` has it in its price already"
        at = quote_path(credited[0], "part")
        yield RULE.problem(at, message, "ask which of the two the supplier means", confidence="likely")


_REBATE = pattern(
    r"(?i)\b(?:rebate|discount|\w*rabatt|remise|descuento|desconto|sconto|korting|rabat)\b[^\d%]{0,30}?(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%|"
    r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?% (?:[\w-]+ ){0,2}?(?:rebate|discount|\w*rabatt|remise|descuento|desconto|sconto|korting|rabat)\b"
)
"""Pattern of the percentage of a rebate."""


def _rebate_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a percentage credit that is ten times too small or too large for the other lines."""
    lines = procurement.quote or ()
    rebates = [(number, found) for number, line in enumerate(lines) if (found := _REBATE.search(line.part or ""))]
    if not rebates or len(lines) > MOST_LINES:
        return
    prices = [float(line_price(line) or 0) for line in lines]
    bases = {sum_of(prices[first:last]) for first in range(len(prices)) for last in range(first + 1, len(prices) + 1)}
    for number, found in rebates:
        line, amount = lines[number], -prices[number]
        if amount <= 0:
            continue
        share = float((found[1] or found[2]).replace(",", ".")) / 100
        expected = [share * base for base in bases if base > 0]
        if any(_is_same_sum(amount, each) for each in expected):
            continue
        slipped = next(
            (each for each in expected if _is_same_sum(amount * 10, each) or _is_same_sum(amount, each * 10)), 0
        )
        if slipped:
            message = f"`{name_of_part(line.part)}` takes off {money_text(amount_text(amount), procurement.currency)}, but {found[1] or found[2]} % of these lines are {money_text(amount_text(slipped), procurement.currency)}"
            at = quote_path(number, "price" if line.price is not None else "unit_price")
            yield RULE.problem(at, message, "ask the supplier for the amount", confidence="likely")


_RISES = r"(?:index\w*|escalat\w*|increas\w*|uplift\w*|rises?|rising|reajust\w*|reajuste|revalor\w*|révis\w*|erhöh\w*|steig\w*|aument\w*|indicizz\w*|stijg\w*|indeks\w*|høyn\w*|wzrost\w*|nárůst\w*)"
_ESCALATION = pattern(
    rf"(?i)\b{_RISES}\b\D{{0,30}}?(\d{{1,2}}(?:[.,]\d+)?) ?% (?:(?:a|per|each|every|pro|par|por|al|ao|om|i|ročně) )?(?:years?|annum|jahr|an|año|ano|anno|jaar|år\w*|rok\w*)\b"
)
_BY_YEAR = pattern(r"\b(?:per|a|each) (?:year|ano|año|anno|an|jahr)\b|/ ?year\b")
MOST_YEARS = 10
"""Largest number of contract years that a quantity may count."""
_MONTHS_OF_LINE = pattern(r"(?i)(?<![\w.,])(\d{1,3}) months\b")


def _escalation_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a line whose text raises its price every year although its sum uses the first year's price."""
    for index, line in enumerate(procurement.quote or ()):
        found = _ESCALATION.search(plain_part(line)) or _ESCALATION.search(line.part or "")
        months = max(map(int, _MONTHS_OF_LINE.findall(line.part or "")), default=0)
        by_year = _BY_YEAR.search(plain_part(line)) is not None and 2 <= (line.quantity or 0) <= MOST_YEARS
        years = (
            months // 12
            or (round(line.quantity or 0) if by_year else 0)
            or (round(procurement.term.value / YEAR) if procurement.term is not None else 0)
        )
        first = (line.quantity or 0) * (line.unit_price or 0)
        price = line_price(line)
        if found is None or years < 2 or not first or price is None or not _is_same_sum(first, price):
            continue
        share = number_in_text(found[1]) / 100
        whole = first * sum_of((1 + share) ** year for year in range(years)) / years
        message = f"by its text the price rises by {found[1]} % a year: {years} years are {money_text(f'{whole:,.0f}', procurement.currency)}, not {money_text(amount_text(price), procurement.currency)}"
        at = quote_path(index, "price" if line.price is not None else "unit_price")
        yield RULE.problem(at, message, "add the increases to the line", confidence="likely")


def _foreign_line_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a line with a price in another currency, stated in its text without a rate, that is summed with
    others.
    """
    own = procurement.currency
    for number, line in enumerate(procurement.quote or ()):
        stated = [(code, float(value.replace(",", ""))) for code, value in _AMOUNT_OF_LINE.findall(line.part or "")]
        taken = [code for code, value in stated if value in {line.unit_price, line.price}]
        if (
            own
            and taken
            and taken[0] in UNITS_PER_DOLLAR
            and own not in {code for code, _ in stated}
            and taken[0] != own
        ):
            message = f"{taken[0]} {line.unit_price:,} of the text stands as {own}, not converted"
            at = quote_path(number, "unit_price")
            yield RULE.problem(
                at, message, f"convert the amount to {own}, with the rate in the text", confidence="likely"
            )
            return
        found = _CURRENCY_OF_LINE.search(line.part or "")
        named = (_SIGNS | _NAMES).get(found[1].lower(), found[1]) if found is not None else ""
        if (
            own
            and named in UNITS_PER_DOLLAR
            and named != own
            and stated_rate(line.part or "") is None
            and line_price(line)
        ):
            message = (
                f"`{name_of_part(line.part)}` is priced in {named}, but the quote adds it up in {own} without a rate"
            )
            at = quote_path(number, "part")
            yield RULE.problem(
                at, message, f"convert the line to {own}, with the rate in its text", confidence="likely"
            )
            return


def _repeated_line_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """Problems of lines that have the same part, quantity and price as an earlier line."""
    seen: dict[tuple[str, float, float], int] = {}
    for number, line in enumerate(procurement.quote or ()):
        if not line.part or line.quantity is None or line.unit_price is None:
            continue
        first = seen.setdefault((line.part.strip().lower(), line.quantity, line.unit_price), number)
        if first != number:
            message = f"`{line.part[:60]}` is quoted twice: lines {first + 1} and {number + 1} have the same part, count and price"
            yield RULE.problem(("procurement", "quote", number), message, "ask the supplier which of the two is right")


def _is_same_sum(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6, abs_tol=0.01)
