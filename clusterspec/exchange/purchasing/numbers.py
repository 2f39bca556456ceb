"""Numbers in the cells of a table, read with one decimal mark for the whole file.

``12.375`` is 12.375 if the point is the decimal mark, and 12,375 if it groups thousands. One number alone cannot decide
this, but the file can: ``1.234,50`` or ``0.125`` anywhere in it decides for all numbers. A number that stays ambiguous
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from clusterspec.records import dataclass

Number = int | float
MARKS = (".", ",")
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|INR|KRW|SGD|HKD|TWD|ILS|AED|SAR|BRL|MXN|ZAR"
CURRENCY = re.compile(rf"(?<![A-Za-z])(?:{_CODES}|US\$|CA\$|AU\$|HK\$|A\$|C\$|S\$)(?![A-Za-z])|[$€£¥]")
SYMBOLS = {
    "$": "USD",
    "US$": "USD",
    "CA$": "CAD",
    "C$": "CAD",
    "AU$": "AUD",
    "A$": "AUD",
    "HK$": "HKD",
    "S$": "SGD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
}
_PIECES = re.compile(r"(?<=[0-9 .\-–])(?:pcs|pc|ea|each|stk|stück|st|units?|x)\.?$", re.IGNORECASE)
_NO_CENTS = re.compile(r"([.,])(?:-{1,2}|–|—)(?=\)?$)")
"""The cents of ``1.250,-``."""
_SPACES = re.compile("[ \u00a0\u202f\u2009]")
_MOST_DIGITS = 15
"""Number of digits that a float keeps exactly."""


@dataclass(frozen=True)
class WrittenNumber:
    """The possible values of a text, by decimal mark; a mark is absent if the text is not a number with it."""

    by_mark: dict[str, Number]
    groups_nothing: bool
    """Whether it has four or more consecutive digits before the decimal mark, so that thousands are not grouped."""

    @property
    def ambiguous(self) -> bool:
        return len(set(self.by_mark.values())) > 1

    @property
    def implied_mark(self) -> str | None:
        """The decimal mark that the text implies; None if the text is a number with both marks or with neither."""
        return next(iter(self.by_mark)) if len(self.by_mark) == 1 else None

    def readings_text(self) -> str:
        return " or ".join(f"{value:,}" for value in dict.fromkeys(self.by_mark.values()))


@dataclass(frozen=True)
class DecimalMark:
    """The decimal mark of a file. ``mark`` is None if no number decides it, and "both" if numbers contradict each
    other.

    ``ungrouped`` are the columns whose numbers have no thousands separator, so that a separator is the decimal mark.
    """

    mark: str | None
    ungrouped: frozenset[str] = frozenset()

    def value(self, text: str, column: str = "") -> Number | None:
        """The number that a text states; None if it states none, or if both decimal marks are possible."""
        found = written_number(text)
        if self.mark in MARKS:
            return found.by_mark.get(self.mark or "")
        if not found.ambiguous:
            return next(iter(found.by_mark.values()), None)
        return min(found.by_mark.values()) if column in self.ungrouped and self.mark is None else None


def decimal_mark(columns: Iterable[tuple[str, str]]) -> DecimalMark:
    """The decimal mark that all numbers of a file imply; ``columns`` has the cells, each with the name of its column.

    >>> [decimal_mark([("price", text) for text in file.split()]).value("12.375", "price")
    ...  for file in ("0.125 8", "1.250,50", "12.375", "12.375 36000", "0.125 0,5")]
    [12.375, 12375, None, 12.375, None]
    """
    found = [(column, written_number(text)) for column, text in columns]
    marks = {number.implied_mark for _, number in found if number.implied_mark}
    loose = {column for column, number in found if number.groups_nothing}
    mark = "both" if len(marks) > 1 else next(iter(marks), None)
    return DecimalMark(mark, frozenset(loose))


def written_number(text: str) -> WrittenNumber:
    """The readings of a text as a number, which may have a currency or unit next to it.

    Any other word makes it no number: ``310 k`` and ``9 per 100`` are not 310 and 9,100.

    >>> [written_number(text).by_mark for text in ("$1,234,567.50", "1.234.567,50 EUR", "310 k", "(36.5)")]
    [{'.': 1234567.5}, {',': 1234567.5}, {}, {'.': -36.5}]
    >>> written_number("12.375").by_mark, written_number("0.125").by_mark, written_number("64 pcs").by_mark
    ({'.': 12.375, ',': 12375}, {'.': 0.125}, {'.': 64, ',': 64})
    """
    plain, negative = _digits_and_sign(text)
    found = {mark: value for mark in MARKS if (value := _number_with_mark(plain, mark)) is not None}
    if negative:
        found = {mark: -value for mark, value in found.items()}
    return WrittenNumber(found, re.match("[0-9]{4}", plain) is not None)


def _digits_and_sign(text: str) -> tuple[str, bool]:
    """The digits and separators of a text, and whether it is negative: with a minus on either side, or in
    parentheses.
    """
    plain = CURRENCY.sub(" ", text, count=1).strip()
    plain = _NO_CENTS.sub(r"\g<1>00", _PIECES.sub("", plain).strip())
    negative = bool(re.fullmatch(r"\(.*\)|[-−–].*|.*[-−]", plain))
    return re.sub(r"^[(\-−–+]|[)\-−]$", "", plain).strip() if plain else "", negative


def _number_with_mark(plain: str, mark: str) -> Number | None:
    """The value of a text with a decimal mark; None if the text is not a number with it."""
    whole, _, cents = plain.partition(mark)
    if not re.fullmatch("[0-9]*", cents) or plain.endswith(mark):
        return None
    digits = _ungrouped_digits(whole, MARKS[mark == "."])
    if digits is None or len(digits) + len(cents) > _MOST_DIGITS:
        return None
    value = float(f"{digits}.{cents or 0}")
    return int(value) if value == int(value) else value


def _ungrouped_digits(whole: str, separator: str) -> str | None:
    """The digits before the decimal mark; None if a separator does not group them by thousands."""
    if re.fullmatch("[0-9]+", whole):
        return whole
    spaced = _SPACES.sub(" ", whole).replace("’", "'")
    for mark in (separator, " ", "'"):
        if re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+", spaced):
            return spaced.replace(mark, "")
    return None
