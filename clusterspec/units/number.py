"""Parser of the number before a unit: digits, a decimal point, thousand separators, an exponent."""

from __future__ import annotations

import math
import re

from clusterspec.patterns import pattern
from clusterspec.units.fault import UnitFault, quoted

LIMIT = 100
"""Characters: no quantity that a person writes is longer."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
# Alternatives differ in their characters, so that matching is unambiguous and linear.
_TIMES = pattern(r"([1-9]\d{0,8})[ ]*[x×*][ ]*(?=[\d.])", re.ASCII)
_NUMBER = pattern(NUMBER, re.ASCII)
_DECIMAL_COMMA = pattern(r"(\d+),(\d+)(?![\d.,])", re.ASCII)
_SPACES = {ord(c): " " for c in "\t\u00a0\u2009\u202f"}  # tab, and the spaces that word processors insert before a unit


def text_of(value: object) -> str:
    """A scalar of a document as text. Raises `UnitFault` for other values and beyond the limits."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise unreadable(str(value), "write a number and its unit")
    if isinstance(value, int) and value.bit_length() > 333:
        raise UnitFault("unreadable-quantity", "the number has more than 100 digits", "write a smaller number")
    text = str(value).translate(_SPACES).strip()
    if len(text) > LIMIT:
        raise unreadable(text, f"write at most {LIMIT} characters: a number and its unit")
    return text


def unreadable(text: str, advice: str) -> UnitFault:
    """The error of a text that is not a quantity."""
    return UnitFault("unreadable-quantity", f"cannot read {quoted(text)} as a quantity", advice)


def split(text: str, whole: bool, example: str) -> tuple[float, str]:
    """The number, times its multiplier as in ``8 x 400 Gb/s``, and the rest of the text.

    ``whole`` means that only integers are valid, so that one comma is a thousand separator.
    """
    times = _TIMES.match(text)
    start = times.end() if times else 0
    match = _NUMBER.match(text, start)
    if not match:
        raise _no_number(text, example)
    digits, rest = match[0], text[match.end() :]
    if not (whole and digits.count(",") == 1 and "." not in digits):
        _refuse_decimal_comma(text, start, rest)
    return _finite(text, digits) * (int(times[1]) if times else 1), rest.strip(" ")


def _no_number(text: str, example: str) -> UnitFault:
    if text[:1] in ("-", "−") and text[1:].lstrip(" ")[:1].isdigit():
        return UnitFault("unreadable-quantity", f"{quoted(text)} is negative", "write a figure of zero or more")
    return unreadable(text, f"begin with the number, as in `{example}`")


def _refuse_decimal_comma(text: str, start: int, rest: str) -> None:
    """Raises `UnitFault` for a decimal comma (``1,5 GB``), and for ``1,500`` if it is ambiguous."""
    comma = _DECIMAL_COMMA.match(text, start)
    if comma:
        unit = text[comma.end() :]
        readings = f"`{text[:start]}{comma[1]}.{comma[2]}{unit}` or `{text[:start]}{comma[1]}{comma[2]}{unit}`"
        message = f"the comma of {quoted(text)} may be a decimal point or a thousand separator"
        raise UnitFault("unreadable-quantity", message, f"write {readings}")
    if rest.startswith(","):
        raise unreadable(text, "write the number without commas")


def _finite(text: str, digits: str) -> float:
    value = float(digits.replace(",", ""))
    mantissa = digits.lower().partition("e")[0]
    if math.isinf(value) or (value == 0 and mantissa.strip("0.,")):
        raise unreadable(text, "write a number within floating-point range, with another prefix")
    return value
