"""Exchange rates and amounts in foreign currencies that a text states."""

from __future__ import annotations

from math import log

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.written_numbers import amount_in_text, numbers_of
from clusterspec.standard import pattern

_SIGNS = {"€": "EUR", "$": "USD", "US$": "USD", "£": "GBP", "₹": "INR", "₩": "KRW", "¥": "JPY", "zł": "PLN"}
_CODE = r"([A-Z]{3}|US\$|[€$£₹₩¥]|zł)"
_UNITS = r"(\d{1,9}(?:[.,]\d{1,9}){0,2})"
_NAMES = {
    **dict.fromkeys(("franc", "francs", "Franken"), "CHF"),
    **dict.fromkeys(("dollar", "dollars", "Dollar", "dólar", "dollaro"), "USD"),
    **dict.fromkeys(("euro", "euros", "Euro"), "EUR"),
    **dict.fromkeys(("pound", "pounds", "Pfund", "livre", "libra", "sterlina"), "GBP"),
    "yen": "JPY",
}
"""The currencies whose names texts use after a rate."""
_KRONER = {currency: frozenset(("kr", "kronor", "kroner")) for currency in ("SEK", "NOK", "DKK")}
_OTHER_DOLLARS = frozenset(("BRL", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "CLP", "COP", "ARS"))
"""Currencies that texts of their countries write with the sign of the dollar."""
_NAME = rf"([A-Z]{{3}}|US\$|[€$£₹₩¥]|zł|{'|'.join(_NAMES)})"
_PER = r" ?(?:/|per|pro|je|par|por|al|za|for|an?|für|pour|to the|to) ?(?:1 ?|one |each |an? |einen? |un |una )?"
_RATE = pattern(rf"\b1 ?{_CODE} ?(?:=|is|are|corresponds to|entspricht|équivaut à|equivale a) ?{_UNITS} ?{_CODE}(?!\w)")
_AMOUNT_FOR_ONE = pattern(rf"(?<![\d.,]){_UNITS} ?{_CODE}{_PER}{_NAME}(?![\w/-])")
_CODE_AND_AMOUNT_FOR_ONE = pattern(rf"(?<!\w){_CODE} ?{_UNITS}{_PER}{_NAME}(?![\w/-])")
_PAIR = pattern(
    r"\b([A-Z]{3}) ?/ ?([A-Z]{3})(?: (?:rate|at|of|is|the|fixed|kurs|cours|tipo|cambio|spot|forward|von|de|à|zu|a)\b){0,3} ?[=:@]? ?(\d{1,6}[.,]\d{1,6})(?! ?%)"
)
"""A pair as dealers write it: `EUR/USD 1.17` is 1.17 USD for one EUR."""
_AMOUNT = pattern(
    r"\b([A-Z]{3}) ?(\d{1,3}(?:[,.' ]\d{3}){1,4}|\d{3,12})(?!\d|[.,]\d)|(\d{1,3}(?:[,.' ]\d{3}){1,4}|\d{3,12}) ?([A-Z]{3})\b"
)


def words_of_currency(currency: str) -> set[str]:
    """The code of a currency, and the signs and names that texts write for it.

    >>> sorted(words_of_currency("GBP")), sorted(words_of_currency("BRL"))
    (['GBP', 'Pfund', 'libra', 'livre', 'pound', 'pounds', 'sterlina', '£'], ['$', 'BRL'])
    """
    named = {word for word, code in (_SIGNS | _NAMES).items() if code == currency}
    return {currency, *named, *_KRONER.get(currency, ()), *({"$"} if currency in _OTHER_DOLLARS else ())}


class StatedRate(NamedTuple):
    """An exchange rate as written: one unit of currency `one` is `units` of currency `other`."""

    text: str
    one: str
    units: float
    other: str


def stated_rates(text: str) -> list[StatedRate]:
    """The exchange rates of a text, each above zero.

    >>> [each[1:] for each in stated_rates("48 000 USD au cours de 1 EUR = 1,0870 USD; 1.17 USD per EUR, € 0.85/$")]
    [('EUR', 1.087, 'USD'), ('EUR', 1.17, 'USD'), ('USD', 0.85, 'EUR')]
    >>> [each[1:] for each in stated_rates("fixed at EUR/PLN 4.31; EUR 0.16 per kWh, 400 EUR/GPU")]
    [('EUR', 4.31, 'PLN')]
    >>> [each[1:] for each in stated_rates("EUR 1.06 for one franc, SEK 9.45 a dollar, USD 52 a node")]
    [('CHF', 1.06, 'EUR'), ('USD', 9.45, 'SEK')]
    """
    found = [_rate_of(match[0], match[1], match[2], match[3]) for match in _RATE.finditer(text)]
    short = [_rate_of(match[0], match[3], match[1], match[2]) for match in _AMOUNT_FOR_ONE.finditer(text)]
    short += [_rate_of(match[0], match[3], match[2], match[1]) for match in _CODE_AND_AMOUNT_FOR_ONE.finditer(text)]
    short += [_rate_of(match[0], match[1], match[3], match[2]) for match in _PAIR.finditer(text)]
    found += [each for each in short if {each.one, each.other} <= UNITS_PER_DOLLAR.keys()]  # no `EUR per GPU`
    return [each for each in found if each.units and each.one != each.other]


def _rate_of(text: str, one: str, digits: str, other: str) -> StatedRate:
    one, other = (_NAMES.get(each, _SIGNS.get(each, each)) for each in (one, other))
    return StatedRate(text.strip(), one, _units_of(digits, one, other), other)


def _units_of(digits: str, one: str, other: str) -> float:
    """The exchange rate that digits stand for: of their possible readings, the one nearest to the usual rate."""
    usual = UNITS_PER_DOLLAR.get(other, 1.0) / UNITS_PER_DOLLAR.get(one, 1.0)
    readings = [each for each in numbers_of(digits) if each > 0]
    return min(readings, key=lambda each: abs(log(each / usual)), default=0.0)


def stated_rate(text: str) -> StatedRate | None:
    """The first exchange rate above zero in a text; None if there is none.

    >>> stated_rate("48 000 USD au cours de 1 EUR = 1,0870 USD")
    StatedRate(text='1 EUR = 1,0870 USD', one='EUR', units=1.087, other='USD')
    """
    return next(iter(stated_rates(text)), None)


def amounts_in(text: str, currency: str) -> set[float]:
    """The whole amounts of a text next to the code of a currency.

    >>> sorted(amounts_in("USD 48 000, or 1.250.000 USD and 700 EUR", "USD"))
    [48000.0, 1250000.0]
    """
    return {
        amount_in_text(first or second)
        for before, first, second, after in _AMOUNT.findall(text)
        if (before or after) == currency
    }
