"""Values of plain scalars: the core schema of YAML 1.2 without octal and hexadecimal.

YAML 1.1 reads ``1:1`` as 61, ``no`` as false and ``2026-11-01`` as a date. Here all scalars are text
except ``true``, ``false``, ``null``, decimal integers and floats.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_INTEGER = 100
"""Digits beyond which an integer is read as a float: int() takes quadratic time, then refuses."""


_SMALLEST = 1e-300
"""Below it a number is zero: what divides by it overflows."""


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar.

    >>> [resolve(text) for text in ("64", "4.5", "1e3", "true", "~", "no", "1:1", "0o17")]
    [64, 4.5, 1000.0, True, None, 'no', '1:1', '0o17']
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INTEGER else float(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) > _SMALLEST else 0.0
    if _ENDLESS.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text
