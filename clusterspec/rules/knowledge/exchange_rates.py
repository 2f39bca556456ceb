"""Exchange rates and amounts in foreign currencies that a text states."""

from __future__ import annotations

from typing import NamedTuple

from clusterspec.rules.knowledge.written_numbers import amount_in_text
from clusterspec.standard import pattern

_RATE = pattern(r"\b1 ?([A-Z]{3}) ?= ?(\d{1,9}(?:[.,]\d{1,9})?) ?([A-Z]{3})\b")
_AMOUNT = pattern(
    r"\b([A-Z]{3}) ?(\d{1,3}(?:[,.' ]\d{3}){1,4}|\d{3,12})(?!\d|[.,]\d)|(\d{1,3}(?:[,.' ]\d{3}){1,4}|\d{3,12}) ?([A-Z]{3})\b"
)


class StatedRate(NamedTuple):
    """An exchange rate as written: `units` of the currency `other` for one of the currency `one`."""

    text: str
    one: str
    units: float
    other: str


def stated_rate(text: str) -> StatedRate | None:
    """The first exchange rate of a text above zero.

    >>> stated_rate("48 000 USD au cours de 1 EUR = 1,0870 USD")
    StatedRate(text='1 EUR = 1,0870 USD', one='EUR', units=1.087, other='USD')
    """
    found = _RATE.search(text)
    units = float(found[2].replace(",", ".")) if found is not None else 0.0
    return StatedRate(found[0], found[1], units, found[3]) if found is not None and units else None


def amounts_in(text: str, currency: str) -> set[float]:
    """The whole amounts of a text beside the code of a currency.

    >>> sorted(amounts_in("USD 48 000, or 1.250.000 USD and 700 EUR", "USD"))
    [48000.0, 1250000.0]
    """
    return {
        amount_in_text(first or second)
        for before, first, second, after in _AMOUNT.findall(text)
        if (before or after) == currency
    }
