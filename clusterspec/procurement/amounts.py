"""Amounts of money as text: exact in bills and quotes, rounded in sentences."""

from __future__ import annotations

from clusterspec.money import Money
from clusterspec.spec.model import Price
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
