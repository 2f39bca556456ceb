"""Amounts of money: a number, or a range from low to high."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.spec.model import Price
from clusterspec.summation import sum_of


def ends(price: Price) -> tuple[float, float]:
    """The low and the high end of a price; equal if it is not a range."""
    return price if isinstance(price, tuple) else (price, price)


def middle(price: Price) -> float:
    """The midpoint of a range, in the currency of the price.

    >>> middle((280000, 340000)), middle(900)
    (310000.0, 900.0)
    """
    low, high = ends(price)
    return (low + high) / 2


def times(price: Price, quantity: float) -> Price:
    """A price times a quantity."""
    return (price[0] * quantity, price[1] * quantity) if isinstance(price, tuple) else price * quantity


def added(prices: Iterable[Price]) -> Price:
    """The sum of prices; a range if any of them is a range.

    >>> added([(6, 8), 10]), added([])
    ((16, 18), 0)
    """
    pairs = [ends(price) for price in prices]
    low, high = sum_of(pair[0] for pair in pairs), sum_of(pair[1] for pair in pairs)
    return low if low == high else (low, high)


def money(price: Price | None, currency: str = "") -> str:
    """A price as text; empty if there is none.

    >>> money((280000, 340000.5), "USD"), money(900), money(None)
    ('280,000 – 340,000.50 USD', '900', '')
    """
    if price is None:
        return ""
    low, high = ends(price)
    numbers = (low,) if low == high else (low, high)
    text = " – ".join(f"{number:,.0f}" if number == int(number) else f"{number:,.2f}" for number in numbers)
    return f"{text} {currency}".rstrip()


def plain(price: Price | None) -> float | list[float] | None:
    """A price as JSON: a number, or ``[low, high]``."""
    return list(price) if isinstance(price, tuple) else price
