"""Amounts of a spec as text."""

from __future__ import annotations

from clusterspec.money import Money
from clusterspec.spec.model import Price


def money(price: Price | Money | None, currency: str = "") -> str:
    """An amount as text, in ``currency`` unless it has its own; empty if there is none.

    >>> money((280000, 340000.5), "USD"), money(900), money(None)
    ('280,000 – 340,000.50 USD', '900', '')
    """
    if price is None:
        return ""
    return str(price if isinstance(price, Money) else Money.of(price, currency))
