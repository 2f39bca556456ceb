"""Amounts of money: low to high, in one currency, at a date."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.records import dataclass
from clusterspec.standard import pattern, sum_of

_AMOUNT = pattern(r"(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(\.\d{1,6})?[ ]*([kMB]?)")
_LETTERS = {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9}


def read_amount(text: str) -> float | None:
    """An amount without a currency: ``20M``, ``20000000`` or ``20,000,000``; None for another text.

    A comma separates thousands only: ``7,5M`` could be 7.5 or 75 million.

    >>> read_amount("1,250.5k"), read_amount("7,5M")
    (1250500.0, None)
    """
    found = _AMOUNT.fullmatch(text.strip())
    return float(found[1].replace(",", "") + (found[2] or "")) * _LETTERS[found[3]] if found else None


class CurrencyMismatch(ValueError):
    """Raised if amounts of different currencies are added, subtracted or compared."""


@dataclass(frozen=True)
class Money:
    """An amount from ``low`` to ``high``, equal if it is not a range.

    ``currency`` is empty if the spec states none, which is no other currency's equal. ``as_of`` is the date of the
    price; a sum has the oldest date of its parts.
    """

    low: float
    high: float
    currency: str = ""
    as_of: str | None = None

    @classmethod
    def of(cls, price: float | tuple[float, float], currency: str = "", as_of: str | None = None) -> Money:
        """A price of a spec: a number, or a range.

        >>> Money.of((280000, 340000), "USD").middle.low
        310000.0
        """
        low, high = price if isinstance(price, tuple) else (price, price)
        return cls(low, high, currency, as_of)

    @classmethod
    def total(cls, amounts: Iterable[Money], currency: str = "") -> Money:
        """The sum of amounts, which is zero in ``currency`` if there are none. Raises `CurrencyMismatch`.

        >>> Money.total([Money.of((6, 8), "USD"), Money.of(10, "USD")]).price
        (16, 18)
        """
        parts = list(amounts)
        for part in parts[1:]:
            parts[0]._refuse_other(part)
        if not parts:
            return cls(0, 0, currency)
        dates = [part.as_of for part in parts]
        oldest = min(date for date in dates if date) if all(dates) else None
        low, high = sum_of(part.low for part in parts), sum_of(part.high for part in parts)
        return cls(low, high, parts[0].currency, oldest)

    @property
    def price(self) -> float | tuple[float, float]:
        """The amount as a spec states it: a number, or a range."""
        return self.low if self.low == self.high else (self.low, self.high)

    @property
    def middle(self) -> Money:
        """The midpoint of the range."""
        both = (self.low + self.high) / 2
        return Money(both, both, self.currency, self.as_of)

    def __add__(self, other: Money) -> Money:
        return Money.total((self, other))

    def __sub__(self, other: Money) -> Money:
        return self + other * -1

    def __mul__(self, factor: float) -> Money:
        ends = (self.low * factor, self.high * factor)
        return Money(min(ends), max(ends), self.currency, self.as_of)

    def __lt__(self, other: Money) -> bool:
        """Whether the midpoint is below the other's. Raises `CurrencyMismatch`."""
        self._refuse_other(other)
        return self.middle.low < other.middle.low

    def __str__(self) -> str:
        """The amount as text.

        >>> str(Money(280000, 340000.5, "USD")), str(Money.of(900))
        ('280,000 – 340,000.50 USD', '900')
        """
        numbers = (self.low,) if self.low == self.high else (self.low, self.high)
        text = " – ".join(f"{number:,.0f}" if number == int(number) else f"{number:,.2f}" for number in numbers)
        return f"{text} {self.currency}".rstrip()

    def to_json(self) -> float | list[float]:
        """A number, or ``[low, high]``."""
        return self.low if self.low == self.high else [self.low, self.high]

    def _refuse_other(self, other: Money) -> None:
        if self.currency != other.currency:
            one, two = (each.currency or "no stated currency" for each in (self, other))
            raise CurrencyMismatch(f"amounts in {one} and in {two} neither add nor compare")
