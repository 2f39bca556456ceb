"""Amounts of money: the amount of a quote; as text, exact in bills and quotes, rounded in sentences."""

from __future__ import annotations

from clusterspec.money import Money
from clusterspec.spec.model import Price, ProcurementSpec, QuoteLine
from clusterspec.standard import pattern, sum_of
from clusterspec.units.display import plain


def money_text(price: Price | Money | None, currency: str = "") -> str:
    """An amount as text, in ``currency`` unless it has its own; empty if there is none.

    >>> money_text((280000, 340000.5), "USD"), money_text(900), money_text(None)
    ('280,000 – 340,000.50 USD', '900', '')
    """
    if price is None:
        return ""
    return str(price if isinstance(price, Money) else Money.of(price, currency))


SCALES = ((1e9, "bn"), (1e6, "M"), (1e3, "k"))


def rounded_text(amount: Money) -> str:
    """An amount of a sentence, to three digits with k, M or bn; bills and quotes state it to the unit.

    >>> rounded_text(Money(21_940_000, 25_040_000, "USD")), rounded_text(Money.of(950, "EUR"))
    ('21.9 – 25 M USD', '950 EUR')
    """
    most = max(abs(amount.low), abs(amount.high))
    scale, name = next((pair for pair in SCALES if most >= 0.9995 * pair[0]), (1.0, ""))
    ends = dict.fromkeys(("−" if end < 0 else "") + plain(abs(end) / scale) for end in (amount.low, amount.high))
    return " ".join(part for part in (" – ".join(ends), name, amount.currency) if part)


# The amount of a quote


def line_price(line: QuoteLine) -> float | None:
    """The price of a line of a quote: as stated, else quantity × unit price; None without either."""
    if line.price is not None:
        return float(line.price)
    return None if line.unit_price is None or line.quantity is None else float(line.unit_price * line.quantity)


def total_of_lines(procurement: ProcurementSpec) -> float | None:
    """The sum of the priced lines of the quote, less the discount and with the tax; None without a priced line."""
    prices = [price for line in procurement.quote or () if (price := line_price(line)) is not None]
    return sum_of(prices) * (1 - (procurement.discount or 0)) * (1 + (procurement.tax or 0)) if prices else None


def terms_factor(procurement: ProcurementSpec) -> float:
    """The ratio of the price with discount and tax to the list price.

    >>> terms_factor(ProcurementSpec(discount=0.5, tax=0.25))
    0.625
    """
    return (1 - (procurement.discount or 0)) * (1 + (procurement.tax or 0))


def amount_with_terms(amount: Money, procurement: ProcurementSpec) -> Money:
    """An amount at list prices, converted to the terms of the quoted total: discount deducted, tax added, rounded to
    cents.

    >>> amount_with_terms(Money.of(1000.0, "EUR"), ProcurementSpec(discount=0.05, tax=0.2)).low
    1140.0
    """
    factor = terms_factor(procurement)
    if factor == 1:
        return amount
    found = amount * factor
    return Money(round(found.low, 2), round(found.high, 2), found.currency, found.as_of)


def terms_text(procurement: ProcurementSpec) -> str:
    """The discount and tax of the quoted total as the end of a phrase; empty if there are none.

    >>> terms_text(ProcurementSpec(tax=0.19)), terms_text(ProcurementSpec())
    (', with tax', '')
    """
    terms = [name for name in ("discount", "tax") if getattr(procurement, name)]
    return f", with {' and '.join(terms)}" if terms else ""


def amount_of_quote(procurement: ProcurementSpec) -> float | None:
    """The amount to pay for the quote: its stated total, else the total of its lines; None if a line has no price."""
    if procurement.quoted_total is not None:
        return float(procurement.quoted_total)
    priced = all(line_price(line) is not None for line in procurement.quote or ())
    return total_of_lines(procurement) if priced else None


def quoted_total(procurement: ProcurementSpec, currency: str) -> Money | None:
    """`amount_of_quote` as money in the currency of a bill."""
    amount = amount_of_quote(procurement)
    return None if amount is None else Money.of(amount, currency)


def is_credit(line: QuoteLine) -> bool:
    """Whether a line takes an amount off the quote, such as a trade-in: it offers no part of the bill."""
    return min(line.price or 0, line.unit_price or 0) < 0


_REBATE = pattern(
    r"(?i)\b(?:rebates?|discounts?|\w*nachlass|\w*rabatt?|remises?|descuentos?|descontos?|sconti|sconto|korting\w*|alennus|sleva)\b|値引|割引|折扣|할인"
)
_OF_ONE_PART = pattern(
    r"(?i)\b(?:on|of|for|auf|sur|sobre|su|op|på) (?:the |den |die |les? |los? |las? |gli |de |het )?(?:\w+ )?"
    r"(?:support|service|cables?|optics|switch\w*|storage|licen[cs]es?)\b"
)


def discount_of_quote(procurement: ProcurementSpec) -> float:
    """The fraction of the list prices that the quote deducts, by its discount and by rebate lines that apply to all
    other lines.

    >>> nodes, rebate = QuoteLine(part="nodes", price=1000), QuoteLine(part="Rebate", price=-250)
    >>> discount_of_quote(ProcurementSpec(quote=(nodes, rebate))), discount_of_quote(ProcurementSpec(discount=0.1))
    (0.25, 0.1)
    """
    prices = [(line, price) for line in procurement.quote or () if (price := line_price(line)) is not None]
    listed = sum_of(price for _, price in prices if price > 0)
    rebates = [
        price
        for line, price in prices
        if is_credit(line) and _REBATE.search(line.part or "") and _OF_ONE_PART.search(line.part or "") is None
    ]
    taken = -sum_of(rebates) / listed if listed else 0.0
    return 1 - (1 - (procurement.discount or 0.0)) * (1 - taken) if taken else procurement.discount or 0.0
