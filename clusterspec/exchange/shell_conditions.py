"""Results of the tests of a shell: comparisons, their conjunction, and the patterns of ``case``."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne


def matches_case(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of ``case``; only whole words and a lone ``*`` are supported."""
    return pattern == "*" or pattern.strip("\"'") == text


def conjunction(sign: str, one: bool | None, other: bool | None) -> bool | None:
    """The result of two tests joined by ``&&`` or ``||``; None if the script does not decide it."""
    short = sign == "||"
    if one is short or other is short:
        return short
    return None if one is None or other is None else not short


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {"-eq": eq, "-ne": ne, "-gt": gt, "-ge": ge, "-lt": lt, "-le": le}


def comparison_result(sign: str, one: str, other: str) -> bool | None:
    """The result of a comparison of words or of integers; None for other operators and words."""
    if sign in {"=", "==", "!="}:
        return (one == other) is (sign != "!=")
    if not (one.isdecimal() and other.isdecimal() and len(one + other) < 30):
        return None
    comparison = _COMPARISONS.get(sign)
    return comparison(int(one), int(other)) if comparison else None
