"""Sizes and rates as benchmarks print them."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9][0-9_,]{0,20}(?:\.[0-9]{1,6})?) ?([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def size_of(text: str) -> float | None:
    """A size in bytes from text; None if it is not a size.

    A decimal multiple that represents a power of two (``524K``, ``33M``) is that power.

    >>> size_of("32KiB"), size_of("1_048_576"), size_of("524K"), size_of("33M"), size_of("8G"), size_of("x")
    (32768.0, 1048576.0, 524288.0, 33554432.0, 8589934592.0, None)
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    number = float(match[1].replace("_", "").replace(",", ""))
    power = _POWERS[match[2].upper()]
    if power == 0:
        return number
    binary = number * 1024.0**power
    if match[3] or number < 10 or _power_of_two(binary):
        return binary
    return _snapped(number * 1000.0**power)


def _power_of_two(value: float) -> bool:
    return value == int(value) and int(value) & (int(value) - 1) == 0


def _snapped(value: float) -> float:
    """The power of two within two percent of a decimal size, else the size itself."""
    nearest = 2.0 ** round(_log2(value))
    return nearest if abs(nearest / value - 1) < 0.035 else value


def _log2(value: float) -> float:
    from math import log2

    return log2(value) if value > 0 else 0.0


def size_text(size: float) -> str:
    """The exact text of a size in bytes for a spec.

    >>> size_text(2.0**33), size_text(2.0**20 * 3), size_text(1000.0)
    ('8 GiB', '3 MiB', '1000 B')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{int(size) >> power} {unit}"
    return f"{size:.12g} B"
